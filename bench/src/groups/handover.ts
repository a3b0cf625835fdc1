import { alternate } from '../alternate.js'
import type { BenchmarkGroup } from '../benchmark.js'
import { Alternation } from '../candidates/alternation.js'
import { scratchDatabase } from '../scratch-database.js'
import { p99BelowSeconds } from '../targets.js'

const ROUNDS = 150

export const handover: BenchmarkGroup = {
  name: 'handover',
  needsServer: true,
  benchmarks: [
    {
      name: 'release',
      what: 'from `release` until a campaigner in another process leads',
      beside: '`pg_advisory_unlock`, and a bare session blocked in `pg_advisory_lock`',
      targets: [p99BelowSeconds(0.05)],
      async run({ databaseUrl }) {
        await using ours = await scratchDatabase(databaseUrl)
        await using theirs = await scratchDatabase(databaseUrl)
        await using campaign = await Alternation.between('campaign', ours.url)
        await using raw = await Alternation.between('raw lock', theirs.url)
        return {
          unit: 'duration',
          ...(await alternate(
            ROUNDS,
            () => campaign.handover(),
            () => raw.handover(),
            10,
          )),
        }
      },
    },
  ],
}
