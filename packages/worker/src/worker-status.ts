import type { PeerStatus, PlannedMove, UnassignedSubscription } from '@es/coordination-core'

/** Where a subscription stands in this instance. */
export type WorkPhase = 'claiming' | 'denied' | 'starting' | 'running' | 'waiting_to_restart' | 'stopping' | 'releasing' | 'declined'

/** One subscription that this instance has to do with. */
export interface WorkStatus {
  readonly subscription: string
  readonly phase: WorkPhase
  /** Since when it has been in this phase. */
  readonly since: Date
  readonly fencingToken: string | null
  /** Who holds it, when this instance was denied it. */
  readonly holder: string | null
  /** Runs that failed in a row. */
  readonly failures: number
  /** The last failure, `null` when there was none since the last success. */
  readonly lastError: string | null
}

/** One peer. */
export interface PeerSummary {
  readonly instanceId: string
  readonly status: PeerStatus
  readonly isLeader: boolean
  readonly subscriptions: readonly string[]
  readonly declined: readonly string[]
  readonly secondsSinceHeard: number
}

/** What the leader decided last. */
export interface PlanSummary {
  readonly madeAt: Date
  /** `null` while the leader listens first. */
  readonly moves: readonly PlannedMove[] | null
  readonly unassigned: readonly UnassignedSubscription[]
  /** Why work is held back. */
  readonly held: readonly string[]
}

/** Something that is wrong. `code` is stable; `message` is for a person. */
export interface Problem {
  readonly code:
    | 'late'
    | 'publish_failing'
    | 'deaf'
    | 'claims_failing'
    | 'no_leader'
    | 'leader_silent'
    | 'renewal_failing'
    | 'unassigned'
    | 'run_failing'
    | 'run_abandoned'
    | 'claims_denied'
  readonly message: string
  readonly since: Date
}

/** For readiness and liveness probes. */
export interface WorkerHealth {
  /** `degraded` when there is any problem. */
  readonly status: 'ok' | 'degraded'
  /** Whether the process is worth keeping: `false` when only a restart is likely to help, as for a leader that cannot renew but still believes it leads. */
  readonly isLive: boolean
  /** Whether it takes part: started, not leaving, and able to talk to the others. */
  readonly isReady: boolean
  readonly problems: readonly Problem[]
}

/** Everything about a worker at one moment, as plain data that JSON can hold. Answers "why is this instance idle?". */
export interface WorkerStatus {
  readonly instanceId: string
  readonly incarnation: string
  readonly phase: 'new' | 'starting' | 'running' | 'stopping' | 'stopped'
  readonly isLeader: boolean
  /** The leader as far as known here, and since when it has been this one. */
  readonly leader: { readonly instanceId: string; readonly since: Date } | null
  /** Highest epoch of an assignment seen, in decimal. */
  readonly epoch: string | null
  /** What this instance should run, as last told; `null` before it was ever told. */
  readonly desired: readonly string[] | null
  readonly work: readonly WorkStatus[]
  readonly peers: readonly PeerSummary[]
  /** The leader's last plan; `null` on a follower. */
  readonly plan: PlanSummary | null
  readonly health: WorkerHealth
  /** One sentence: why this instance runs nothing; `null` when it does run something. */
  readonly whyIdle: string | null
}
