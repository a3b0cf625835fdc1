import type { PeerStatus, PlannedMove, UnassignedSubscription } from '@es/coordination-core'

/**
 * Where a subscription stands in this instance:
 * `claiming` the claim was asked for · `denied` another instance holds it · `starting`, `running` it is ours · `waiting_to_restart` the run failed, and is
 * started again after a pause · `stopping` the run was told to end · `releasing` the claim is being let go of · `declined` not here for now:
 * it failed too often, or an abandoned run may still be going on.
 */
export type WorkPhase = 'claiming' | 'denied' | 'starting' | 'running' | 'waiting_to_restart' | 'stopping' | 'releasing' | 'declined'

/** One subscription that this instance has to do with. */
export interface WorkStatus {
  readonly subscription: string
  readonly phase: WorkPhase
  /** Since when it has been in this phase. */
  readonly since: Date
  /** Number of the claim, in decimal; `null` when there is none. */
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
  /** Whether it says so and is healthy. */
  readonly isLeader: boolean
  /** What it says it runs. */
  readonly subscriptions: readonly string[]
  /** What it says it cannot run. */
  readonly declined: readonly string[]
  /** Since its newest message arrived here. */
  readonly secondsSinceHeard: number
}

/** What the leader decided last. */
export interface PlanSummary {
  readonly madeAt: Date
  /** `null` while the leader listens first. */
  readonly moves: readonly PlannedMove[] | null
  /** What nobody can run, with the reason. */
  readonly unassigned: readonly UnassignedSubscription[]
  /** Why work is held back. */
  readonly held: readonly string[]
}

/**
 * What can be wrong:
 * - `late`: the process ran its timers late: a blocked event loop, a throttled CPU, a suspended machine
 * - `publish_failing`: heartbeats do not get out: the others will take this instance for dead
 * - `deaf`: this instance does not even hear itself
 * - `claims_failing`: the backend cannot be asked for claims, or refuses more
 * - `no_leader`: nobody has led for `noLeaderWarningSeconds`
 * - `leader_silent`: somebody holds the leadership and has not been heard for `noLeaderWarningSeconds`
 * - `renewal_failing`: this leader cannot renew and still believes that it leads
 * - `mass_loss`: most instances fell silent at once; the leader holds their work back for `massLossHoldSeconds` (on the leader only)
 * - `leader_work_stuck`: the leader's own work of a term that is over ignores its signal; this instance does not lead until it ends
 * - `unowned`: some subscriptions are assigned, but have been running nowhere for a third of the heartbeat timeout (on the leader only)
 * - `unassigned`: nobody can run some subscriptions: no capacity, not allowed anywhere, nobody fit (on the leader only)
 * - `run_failing`: a `run` throws, or ends by itself
 * - `run_abandoned`: a `run` ignored its signal and may still be going on
 * - `claims_denied`: another session has held what was assigned here for longer than a heartbeat timeout
 */
export type ProblemCode =
  | 'late'
  | 'publish_failing'
  | 'deaf'
  | 'claims_failing'
  | 'no_leader'
  | 'leader_silent'
  | 'renewal_failing'
  | 'mass_loss'
  | 'unassigned'
  | 'unowned'
  | 'leader_work_stuck'
  | 'run_failing'
  | 'run_abandoned'
  | 'claims_denied'

/** Something that is wrong. `code` is stable; `message` is for a person. */
export interface Problem {
  readonly code: ProblemCode
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
  /** Everything that is wrong now, in no particular order. */
  readonly problems: readonly Problem[]
}

/** Everything about a worker at one moment, as plain data that JSON can hold. Answers "why is this instance idle?". */
export interface WorkerStatus {
  readonly instanceId: string
  /** This run of the instance. */
  readonly incarnation: string
  readonly phase: 'new' | 'starting' | 'running' | 'stopping' | 'stopped'
  readonly isLeader: boolean
  /** The leader as far as known here, and since when it has been this one. */
  readonly leader: { readonly instanceId: string; readonly since: Date } | null
  /** Epoch of the assignment that was accepted last, in decimal; see `WorkRedistributionCoordinator.highestEpoch`. */
  readonly epoch: string | null
  /** What this instance should run, as last told; `null` before it was ever told. */
  readonly desired: readonly string[] | null
  /** Every subscription that this instance has to do with. */
  readonly work: readonly WorkStatus[]
  readonly peers: readonly PeerSummary[]
  /** The leader's last plan; `null` on a follower. */
  readonly plan: PlanSummary | null
  readonly health: WorkerHealth
  /** One sentence: why this instance runs nothing; `null` when it does run something. */
  readonly whyIdle: string | null
}
