import type { Sabotage } from './worker/sabotage.js'

/** What a worker process is told before it starts. */
export interface WorkerSettings {
  /** Name of the worker; its identity in the election. */
  readonly worker: string
  readonly url: string
  /** Keeps the elections of two demos in one database apart. */
  readonly namespace: string
  readonly leaseSeconds: number
  readonly batch: number
  readonly workMs: number
  readonly sabotage: Sabotage | null
}

/** Parent to worker. A worker whose parent is gone stops as well. */
export type WorkerCommand = { readonly type: 'start'; readonly settings: WorkerSettings } | { readonly type: 'stop' }

/**
 * Worker to parent. `at` is the time of the machine's monotonic clock at which it happened, see `hostSeconds`; tokens are decimal strings,
 * as JSON has no bigint.
 */
export type WorkerReport = { readonly at: number } & (
  | { readonly type: 'campaigning' }
  | { readonly type: 'elected'; readonly token: string }
  /** A sample: at this instant the elector said that this worker leads. */
  | { readonly type: 'leading'; readonly token: string }
  | { readonly type: 'lost' }
  /** Somebody else leads, as far as this worker knows. */
  | { readonly type: 'sees_leader'; readonly leader: string | null }
  /** The read model is written, the transaction still open. */
  | { readonly type: 'applying'; readonly token: string }
  | { readonly type: 'committed'; readonly token: string; readonly position: number; readonly events: number }
  | { readonly type: 'refused'; readonly token: string; readonly storedToken: string }
)

/** A report before it is stamped. */
export type UnstampedReport = WorkerReport extends infer Report ? (Report extends WorkerReport ? Omit<Report, 'at'> : never) : never
