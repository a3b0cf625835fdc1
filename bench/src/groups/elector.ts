import { PostgresLeaderElector } from '@es/coordination-postgres'
import { alternate, typicalSeconds } from '../alternate.js'
import type { BenchmarkGroup } from '../benchmark.js'
import { connectAlike, recordStatements, replay } from '../recorded-statements.js'
import { SERVER_TOLERANCE } from '../regression-check.js'
import { scratchDatabase } from '../scratch-database.js'
import { ratioAtMost } from '../targets.js'

const ROUNDS = 60
/** Until the compiler has settled: after a tenth of it a call still costs 20 us more. */
const WARM_UP_ROUNDS = 100
const EACH_ROUND = 40

export const elector: BenchmarkGroup = {
  name: 'elector',
  needsServer: true,
  benchmarks: [
    {
      name: 'acquire-release',
      what: '`tryAcquire` and `release`',
      beside: 'the same two statements on a `pg.Client` with the same settings',
      targets: [ratioAtMost(1.25)],
      shortfall:
        'what is added is 6 us of JavaScript for both calls together, measured with a driver that answers at once: promises, a time limit for each, and the garbage of both. Run after each wake-up by the server, with cold caches, it costs several times that.',
      tolerance: SERVER_TOLERANCE,
      async run({ databaseUrl }) {
        await using database = await scratchDatabase(databaseUrl)
        await using leader = new PostgresLeaderElector({ identity: 'leader', election: 'measured', connection: database.url })
        const acquireAndRelease = async (): Promise<void> => {
          if (!(await leader.tryAcquire())) throw new Error('Was refused the leadership')
          await leader.release()
        }
        await leader.campaign()
        await leader.release()
        const { client, statements } = await recordStatements(acquireAndRelease)
        const alike = await connectAlike(client, database.url)
        try {
          const same = async (): Promise<void> => {
            for (const statement of statements) await replay(alike, statement)
          }
          const figures = await alternate(
            ROUNDS,
            () => typicalSeconds(EACH_ROUND, acquireAndRelease),
            () => typicalSeconds(EACH_ROUND, same),
            WARM_UP_ROUNDS,
          )
          return { unit: 'duration', ...figures, facts: { 'two statements': statements.length === 2 } }
        } finally {
          await alike.end()
        }
      },
    },
    {
      name: 'renew',
      what: '`renew`',
      beside: '`SELECT 1`, prepared, on the same connection',
      targets: [ratioAtMost(2.5)],
      tolerance: SERVER_TOLERANCE,
      async run({ databaseUrl }) {
        await using database = await scratchDatabase(databaseUrl)
        await using leader = new PostgresLeaderElector({ identity: 'leader', election: 'measured', connection: database.url })
        const { client } = await recordStatements(() => leader.tryAcquire())
        const renew = async (): Promise<void> => {
          if (!(await leader.renew())) throw new Error('Lost the leadership')
        }
        // Nothing else uses the connection meanwhile: renewals are seconds apart, and each round is done in milliseconds.
        const select = (): Promise<unknown> => client.query({ name: 'one', text: 'SELECT 1' })
        const figures = await alternate(
          ROUNDS,
          () => typicalSeconds(EACH_ROUND, renew),
          () => typicalSeconds(EACH_ROUND, select),
          WARM_UP_ROUNDS,
        )
        return { unit: 'duration', ...figures }
      },
    },
  ],
}
