import type { HeartbeatMessage } from './heartbeat-message.js'
import type { ShutdownNotification } from './shutdown-notification.js'

/**
 * How a peer stands: `healthy` (heard within the timeout), `stale` (not heard within the timeout, and it did not say goodbye), `draining`
 * (it said goodbye, and its drain window is open), `terminated` (the window is over), `unknown` (not in the table).
 */
export type PeerStatus = 'healthy' | 'stale' | 'draining' | 'terminated' | 'unknown'

/** What is known about another instance, as of the call that returned it; frozen. */
export interface PeerInfo {
  readonly instanceId: string
  /** By the coordinator's own `heartbeatTimeoutSeconds` and clock, never by the peer's clock. */
  readonly status: Exclude<PeerStatus, 'unknown'>
  /** The newest heartbeat of its present life, `null` when none came. */
  readonly lastHeartbeat: HeartbeatMessage | null
  /** Its goodbye, `null` while it stays. */
  readonly shutdownNotification: ShutdownNotification | null
  /** What it runs: as its goodbye says, otherwise as its newest heartbeat says. */
  readonly subscriptions: readonly string[]
  /** Its present life, `null` when it sends no incarnation. */
  readonly incarnation: string | null
  /** Arrival of its newest message, on the monotonic clock of this process, in seconds. */
  readonly heardAtSeconds: number
}

/** A peer came, recovered, went, or began a new life. */
export interface PeerStatusChange {
  readonly instanceId: string
  /** Status in the change before this one; `unknown` when the peer is new. */
  readonly previous: PeerStatus
  /** Status now; `unknown` when the peer was forgotten. */
  readonly status: PeerStatus
  /** A new life of the instance took the place of the one before: the same id, another incarnation. */
  readonly restarted: boolean
  /** After a restart: what the life before ran and nobody lists now, the new life included. Otherwise empty. */
  readonly leftBehind: readonly string[]
}
