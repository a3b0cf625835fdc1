import type { StopCause } from '@es/coordination-worker'
import type { Sabotage } from './worker/sabotage.js'

/** What a worker process is told when it starts. */
export interface WorkerSettings {
  readonly worker: string
  readonly url: string
  /** Keeps the clusters of two demos in one database apart. */
  readonly namespace: string
  readonly leaseSeconds: number
  readonly batch: number
  readonly workMs: number
  readonly sabotage: Sabotage | null
  /** Whether the worker prints warnings: under planned faults they are many, and expected. */
  readonly isVerbose: boolean
}

/**
 * Worker to parent. `at` is the time of the machine's monotonic clock at which it happened, see `hostSeconds`; tokens are decimal strings,
 * as JSON has no bigint.
 */
export type WorkerReport = { readonly at: number } /** The worker takes part. */ & (
  | { readonly type: 'ready' }
  /** At this instant the worker led under the token `leads`, and held these claims: subscription and token. */
  | { readonly type: 'sample'; readonly leads: string | null; readonly holds: Readonly<Record<string, string>> }
  /** The first line of a run. */
  | { readonly type: 'run_started'; readonly subscription: string; readonly token: string }
  /** Its last line. `cause`: what it had been told; `failed` when it was told nothing. */
  | { readonly type: 'run_ended'; readonly subscription: string; readonly token: string; readonly cause: StopCause | 'failed' }
  /** The read model is written, the transaction still open. */
  | { readonly type: 'applying'; readonly subscription: string; readonly token: string }
  | {
      readonly type: 'committed'
      readonly subscription: string
      readonly token: string
      readonly position: number
      readonly events: number
    }
  | { readonly type: 'refused'; readonly subscription: string; readonly token: string; readonly storedToken: string }
  | { readonly type: 'elected'; readonly token: string }
  | { readonly type: 'unseated' }
  /** As the leader, the worker decided on moves. */
  | { readonly type: 'planned'; readonly moves: number }
)

/** A report before it is stamped. */
export type UnstampedReport = WorkerReport extends infer Report ? (Report extends WorkerReport ? Omit<Report, 'at'> : never) : never
