import type { AssignmentPlan, PeerStatus, ShutdownIntent } from '@es/coordination-core'
import type { ProblemCode } from './worker-status.js'

/** Why a run was told to stop: `revoked` its subscription goes to another instance · `stopping` the worker stops · `lost` the claim is gone. */
export type StopCause = 'revoked' | 'stopping' | 'lost'

/** Everything a worker reports, in the order in which it happens. */
export type WorkerEvent =
  /** The worker takes part: it listens, and its first heartbeat is out, or could not be sent and is tried again. */
  | { readonly type: 'started' }
  /** It has begun to leave. */
  | { readonly type: 'stopping'; readonly intent: ShutdownIntent; readonly drainTimeoutSeconds: number }
  /** It has left. `abandoned`: the subscriptions whose `run` did not end in time. */
  | { readonly type: 'stopped'; readonly abandoned: readonly string[] }
  /** This instance leads. `epoch`: the fencing token of the term, `null` from an elector without. */
  | { readonly type: 'leadership_gained'; readonly epoch: bigint | null }
  | { readonly type: 'leadership_lost' }
  /** As the leader, it gave leadership up because it could not do its job. */
  | { readonly type: 'leader_stepped_down'; readonly reason: string }
  /** As the leader, it decided on moves. */
  | { readonly type: 'planned'; readonly plan: AssignmentPlan }
  /** As the leader, it found subscriptions that nobody can run. Reported when the set changes, also when it becomes empty. */
  | { readonly type: 'unassigned_changed'; readonly unassigned: AssignmentPlan['unassigned'] }
  /** What this instance should run has changed. */
  | { readonly type: 'assignment_changed'; readonly subscriptions: readonly string[]; readonly epoch: bigint | null }
  /** Its claims on subscriptions that it should run were refused: another instance holds them. Reported when the set changes. */
  | { readonly type: 'claims_denied'; readonly denied: readonly { readonly subscription: string; readonly holder: string | null }[] }
  | { readonly type: 'run_started'; readonly subscription: string; readonly fencingToken: bigint | null }
  /** A run ended because it was told to. */
  | { readonly type: 'run_stopped'; readonly subscription: string; readonly fencingToken: bigint | null; readonly cause: StopCause }
  /** A run threw, or ended without having been told to (`error` is `null` then); it is started again after `retryInSeconds`, `null` if not here. */
  | {
      readonly type: 'run_failed'
      readonly subscription: string
      readonly error: unknown
      readonly failures: number
      readonly retryInSeconds: number | null
    }
  /** A run did not end in time after it was told to. It may still be running: only its fencing token keeps it from doing harm. */
  | { readonly type: 'run_abandoned'; readonly subscription: string; readonly fencingToken: bigint | null }
  /** A claim was lost, and with it the right to write. */
  | { readonly type: 'claim_lost'; readonly subscription: string; readonly fencingToken: bigint }
  | { readonly type: 'peer_changed'; readonly instanceId: string; readonly previous: PeerStatus; readonly status: PeerStatus }
  /** What `health()` says has changed. */
  | { readonly type: 'health_changed'; readonly status: 'ok' | 'degraded'; readonly problems: readonly ProblemCode[] }
