import type { Measurement } from './benchmark.js'

/** What a group's process is told. */
export interface GroupCommand {
  readonly group: string
  readonly benchmarks: readonly string[]
  readonly databaseUrl: string
}

/** What it tells. */
export type GroupReport =
  | { readonly type: 'measured'; readonly name: string; readonly measurement: Measurement }
  | { readonly type: 'failed'; readonly name: string; readonly error: string }
