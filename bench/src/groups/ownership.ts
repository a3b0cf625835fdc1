import { PostgresOwnership } from '@es/coordination-postgres'
import { alternate } from '../alternate.js'
import type { BenchmarkGroup } from '../benchmark.js'
import { connectAlike, recordStatements, replay } from '../recorded-statements.js'
import { SERVER_TOLERANCE } from '../regression-check.js'
import { scratchDatabase } from '../scratch-database.js'
import { shuffled } from '../shuffled.js'
import { ratioAtMost } from '../targets.js'

const CLAIMS = 1000
const ROUNDS = 60

export const ownership: BenchmarkGroup = {
  name: 'ownership',
  needsServer: true,
  benchmarks: [
    {
      name: 'claim-1000',
      what: '`claim` of 1,000 subscriptions',
      beside: 'the same statement on a `pg.Client` with the same settings',
      targets: [ratioAtMost(1.5)],
      tolerance: SERVER_TOLERANCE,
      async run({ databaseUrl }) {
        await using database = await scratchDatabase(databaseUrl)
        await using owner = new PostgresOwnership({ identity: 'owner', connection: database.url })
        const names = shuffled(
          Array.from({ length: CLAIMS }, (_, index) => `subscription-${index}`),
          1,
        )
        const claim = async (): Promise<void> => {
          const { claimed } = await owner.claim(names)
          if (claimed.length !== CLAIMS) throw new Error(`Got only ${claimed.length} claims`)
        }
        const release = (): Promise<void> => owner.release(names)
        await claim()
        await release()
        const claiming = await recordStatements(claim)
        const releasing = await recordStatements(release)
        const alike = await connectAlike(claiming.client, database.url)
        const same = async ({ statements }: typeof claiming): Promise<void> => {
          for (const statement of statements) await replay(alike, statement)
        }
        const timed = async (work: () => Promise<void>, undo: () => Promise<void>): Promise<number> => {
          const startedAt = performance.now()
          await work()
          const seconds = (performance.now() - startedAt) / 1000
          await undo()
          return seconds
        }
        try {
          const figures = await alternate(
            ROUNDS,
            () => timed(claim, release),
            () =>
              timed(
                () => same(claiming),
                () => same(releasing),
              ),
            10,
          )
          return { unit: 'duration', ...figures, facts: { 'one statement': claiming.statements.length === 1 } }
        } finally {
          await alike.end()
        }
      },
    },
  ],
}
