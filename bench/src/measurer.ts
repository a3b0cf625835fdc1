import type { BenchmarkGroup, Measurement } from './benchmark.js'
import type { BenchmarkServer } from './benchmark-server.js'
import { rowName } from './catalogue.js'
import { judge, type RowResult } from './row-result.js'
import { runGroup } from './run-group.js'

/** What a {@link Measurer} is made of. */
export interface MeasurerOptions {
  /** `null` when no group needs one. */
  readonly server: BenchmarkServer | null
  /** Ends what is under way. */
  readonly signal: AbortSignal
  /** Told of each row as it is done. */
  readonly told: (row: RowResult) => void
}

/** Measures rows, once or several times, and remembers what it found. */
export class Measurer {
  /** Rows that could not be measured when last tried, with the reason, by name. */
  readonly failures = new Map<string, string>()
  readonly #options: MeasurerOptions
  readonly #runs = new Map<string, [Measurement, ...Measurement[]]>()

  constructor(options: MeasurerOptions) {
    this.#options = options
  }

  /** Measures each row of `groups` once more. @throws the signal's reason when it aborts. */
  async measure(groups: readonly BenchmarkGroup[]): Promise<void> {
    const { server, signal } = this.#options
    for (const group of groups) {
      if (group.needsServer) await server?.untilReady()
      await runGroup(group, { databaseUrl: server?.url ?? '', signal, done: (name, outcome) => this.#done(group, name, outcome) })
    }
  }

  /** What was found of each row of `groups` in all runs together. */
  results(groups: readonly BenchmarkGroup[]): RowResult[] {
    return groups.flatMap((group) =>
      group.benchmarks.flatMap((benchmark) => {
        const row = rowName(group, benchmark)
        const runs = this.#runs.get(row)
        return runs === undefined ? [] : [judge(row, benchmark, runs)]
      }),
    )
  }

  #done(group: BenchmarkGroup, name: string, outcome: Measurement | Error): void {
    const benchmark = group.benchmarks.find((one) => one.name === name)
    if (benchmark === undefined) return
    const row = rowName(group, benchmark)
    if (outcome instanceof Error) {
      this.failures.set(row, outcome.message)
      return
    }
    this.failures.delete(row)
    this.#runs.set(row, [...(this.#runs.get(row) ?? []), outcome] as [Measurement, ...Measurement[]])
    this.#options.told(judge(row, benchmark, [outcome]))
  }
}
