import { Bench } from 'tinybench'
import { alternate } from './alternate.js'
import type { Measurement } from './benchmark.js'

/** Work inside a process. */
export interface InProcessWork {
  /** Does it `operations` times. */
  readonly run: () => unknown
  /** Made anew, and not measured, before each run. */
  readonly prepare?: () => void
  readonly operations: number
}

/** How {@link compareInProcess} measures. */
export interface InProcessOptions {
  readonly measured: InProcessWork
  readonly beside: InProcessWork
  readonly unit: 'duration' | 'rate'
  /** @default 25 */
  readonly rounds?: number
  /** Shortest time that each of the two runs in a round, in seconds. @default 0.04 */
  readonly roundSeconds?: number
}

/** Compares two pieces of work by short runs in turn. A sample is the median time of a run's repetitions, for one operation. */
export async function compareInProcess(options: InProcessOptions): Promise<Measurement> {
  const { measured, beside, unit, rounds = 25, roundSeconds = 0.04 } = options
  const compared = await alternate(
    rounds,
    () => median(measured, roundSeconds),
    () => median(beside, roundSeconds),
    5,
  )
  const convert = unit === 'rate' ? (seconds: number): number => 1 / seconds : (seconds: number): number => seconds
  return { unit, samples: compared.samples.map(convert), beside: compared.beside.map(convert) }
}

async function median({ run, prepare, operations }: InProcessWork, roundSeconds: number): Promise<number> {
  const bench = new Bench({ time: roundSeconds * 1000, iterations: 3, warmup: false, throws: true })
  bench.add('work', run, prepare === undefined ? {} : { beforeEach: prepare })
  const [task] = await bench.run()
  if (task?.result.state !== 'completed') throw new Error(`The work ended as ${task?.result.state}`)
  return task.result.latency.p50 / 1000 / operations
}
