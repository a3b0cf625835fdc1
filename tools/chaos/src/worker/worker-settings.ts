import type { ClusterSettings } from '../cluster-settings.js'
import type { Slot } from '../plan/schedule.js'

/**
 * Faults of the cluster itself, built in to see that the judge finds them.
 *
 * - `ignore-token`: runs keep their position in memory, write past the guard, and go on for a while after their claim is lost.
 * - `double-run`: a worker runs a subscription that it holds no claim on, beside its owner.
 * - `skip`: a new owner sets the checkpoint forward, so that events are lost.
 * - `slow-clock`: the clock that leases are measured with runs at less than half its speed, so that trust outlives the server's lease.
 * - `sluggish`: every claim takes many seconds.
 */
export const SABOTAGES = ['ignore-token', 'double-run', 'skip', 'slow-clock', 'sluggish'] as const
export type Sabotage = (typeof SABOTAGES)[number]

/** What a worker process is started with; its only argument, as JSON. */
export interface WorkerSettings {
  readonly instanceId: string
  readonly connection: string
  readonly elector: Slot['elector']
  readonly subscriptions: readonly string[]
  readonly cluster: ClusterSettings
  /** The file that it appends its history to. */
  readonly history: string
  readonly sabotage: Sabotage | null
}

/** Worker to parent. */
export type WorkerReport =
  /** It takes part. */
  | { readonly type: 'ready' }
  /** Whether it leads, and how many subscriptions it owns, as far as it knows. */
  | { readonly type: 'holds'; readonly leads: boolean; readonly owns: number }
  /** Its event loop runs again. */
  | { readonly type: 'unblocked' }

/** Parent to worker. */
export type WorkerOrder = { readonly type: 'block'; readonly seconds: number }
