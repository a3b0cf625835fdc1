/** How a number is to be read. Durations are in seconds; `rate` is how often something can be done in a second. */
export type Unit = 'duration' | 'rate' | 'bytes' | 'percent' | 'count'

/** What a benchmark found: one number for each repetition, in the order in which they were measured. */
export interface Measurement {
  readonly unit: Unit
  readonly samples: readonly number[]
  /** The same for what it is compared with, measured in between. Missing when that is not to be had here. */
  readonly beside?: readonly number[]
  /** What had to be true meanwhile, by name, such as `never two leaders`. One that is not fails the row. */
  readonly facts?: Readonly<Record<string, boolean>>
  /** What else a reader should know, such as why there is nothing to compare with. */
  readonly remarks?: readonly string[]
}

/** What a benchmark is given. */
export interface BenchmarkContext {
  /** Connection string of a server that nobody else works on; empty for a group that needs none. */
  readonly databaseUrl: string
}

/** One row of the table. */
export interface Benchmark {
  /** Unique within its group, in kebab-case. */
  readonly name: string
  /** What is measured. */
  readonly what: string
  /** What it is compared with: the floor, or what somebody would use instead. */
  readonly beside: string
  readonly targets: readonly Target[]
  /**
   * How many times the recorded ratio `--check` puts down to noise. Only for rows whose ratio is steady enough to be compared between runs: what is inside a
   * process, and statements beside the same statements.
   * @default none: the row is not compared
   */
  readonly tolerance?: number
  /** Why it falls short of a target, for the table: shown only while it does. */
  readonly shortfall?: string
  run(context: BenchmarkContext): Promise<Measurement>
}

/** Benchmarks that belong together. A group runs in a process of its own, so that no group warms up or slows down another. */
export interface BenchmarkGroup {
  /** Unique, in kebab-case. */
  readonly name: string
  /**
   * Whether its benchmarks use the server.
   * @default false
   */
  readonly needsServer?: boolean
  readonly benchmarks: readonly Benchmark[]
}

/** Something a row promises. */
export interface Target {
  readonly text: string
  isMet(figures: TargetFigures): boolean
}

/** What a {@link Target} looks at. */
interface TargetFigures {
  readonly samples: readonly number[]
  readonly median: number
  /** Median beside median; `null` without a comparison. */
  readonly ratio: number | null
}
