import type { Misbehaviour } from './workload.js'

/**
 * What is done to a simulated cluster, as plain data: JSON holds it, a test can write it, and {@link scenarios} makes it up. The same scenario has the same
 * outcome every time.
 */
export interface Scenario {
  /** Decides all that the steps leave open: latencies, jitter, which messages are lost, when runs write. */
  readonly seed: number
  /** How many subscriptions there are, `s1`, `s2` and so on, or which. */
  readonly subscriptions: number | readonly string[]
  /** Whether instances claim what they run. @default true */
  readonly hasOwnership?: boolean
  /** Those left out have the value of {@link DEFAULT_TIMINGS}. */
  readonly timings?: Partial<ScenarioTimings>
  /** In order. One that cannot be done, such as the crash of an instance that is not there, is skipped. */
  readonly steps: readonly ScenarioStep[]
}

/**
 * In seconds. An instance factory passes them on to what it builds, so that the bounds that follow from them hold; those of a `CoordinatedWorker` have the
 * names of its options.
 */
export interface ScenarioTimings {
  /** How long the backend keeps what a silent instance holds. */
  readonly leaseSeconds: number
  /** How long an instance trusts what it holds, from before its last successful renewal was sent; less than the lease by more than clocks may drift. */
  readonly renewDeadlineSeconds: number
  /** How often a campaign asks whether leadership is free. */
  readonly pollSeconds: number
  /** Longest time that one request to the backend may take before it is given up. */
  readonly requestTimeoutSeconds: number
  readonly heartbeatIntervalSeconds: number
  readonly heartbeatTimeoutSeconds: number
  readonly electionIntervalSeconds: number
  readonly observeIntervalSeconds: number
  readonly crashGraceSeconds: number
  readonly settleSeconds: number
  readonly drainTimeoutSeconds: number
  /** Longest pause between attempts of an adapter that failed. */
  readonly longestRetrySeconds: number
  /** Longest pause before a run that failed is started again. */
  readonly longestRunPauseSeconds: number
  /** How long an instance declines what it failed at. */
  readonly declineSeconds: number
  readonly massLossHoldSeconds: number
}

/** Short ones, so that a simulated minute holds many faults; in the proportions that suit a real cluster. */
export const DEFAULT_TIMINGS: ScenarioTimings = {
  leaseSeconds: 3,
  renewDeadlineSeconds: 2.7,
  pollSeconds: 0.5,
  requestTimeoutSeconds: 2,
  heartbeatIntervalSeconds: 1,
  heartbeatTimeoutSeconds: 3,
  electionIntervalSeconds: 1,
  observeIntervalSeconds: 0.5,
  crashGraceSeconds: 0.5,
  settleSeconds: 1,
  drainTimeoutSeconds: 3,
  longestRetrySeconds: 2,
  longestRunPauseSeconds: 2,
  declineSeconds: 2,
  massLossHoldSeconds: 4,
}

/** An instance, by its id or by the part it has when the step is done. */
export type Who = string

/** What stands for an instance in a step: the leader, the first instance that does not lead, the one that started last, and one that owns something. */
export const ROLES = ['the leader', 'a follower', 'the newest', 'an owner'] as const

/** When a step is done: so long after the one before. @default 0 */
interface After {
  readonly afterSeconds?: number
}

/** A fault that ends after so long, or with a step `heal`, or at the end of the scenario. */
interface Lasting extends After {
  readonly forSeconds?: number
}

/** One step of a {@link Scenario}. */
export type ScenarioStep =
  /** A process starts. `skewSeconds`: how far its wall clock is ahead. `rate`: seconds that its clocks count in a true one. */
  | (After & { readonly do: 'start'; readonly who: Who; readonly skewSeconds?: number; readonly rate?: number })
  /** It leaves in order. */
  | (After & { readonly do: 'stop'; readonly who: Who; readonly drainSeconds?: number })
  /** It leaves in order and, once it has left, starts again under the same id. */
  | (After & { readonly do: 'restart'; readonly who: Who; readonly downSeconds?: number })
  /** It dies. `isSilent`: so does its machine, and the backend is not told by a closed connection. `downSeconds`: starts again after so long. */
  | (After & { readonly do: 'crash'; readonly who: Who; readonly isSilent?: boolean; readonly downSeconds?: number })
  | (Lasting & { readonly do: 'pause'; readonly who: Who })
  | (After & { readonly do: 'resume'; readonly who: Who })
  /** Its wall clock alone jumps. */
  | (After & { readonly do: 'jump_clock'; readonly who: Who; readonly bySeconds: number })
  /** Its clocks run at another rate from now on. */
  | (After & { readonly do: 'drift'; readonly who: Who; readonly rate: number })
  /** The backend ends its session, and tells it. */
  | (After & { readonly do: 'end_session'; readonly who: Who })
  /** It loses its connection to the other instances, and knows. */
  | (Lasting & { readonly do: 'cut_bus'; readonly who: Who })
  /** The groups do not hear each other, and nobody knows; instances that are in none are a further group. */
  | (Lasting & { readonly do: 'partition'; readonly groups: readonly (readonly string[])[] })
  /** Messages get lost, repeated, or late; all of them, or only those between two instances or on one topic. */
  | (Lasting & {
      readonly do: 'bad_network'
      readonly from?: string
      readonly to?: string
      readonly topic?: string
      readonly loss?: number
      readonly repeat?: number
      readonly jitterSeconds?: number
      readonly delaySeconds?: number
    })
  /** The backend is slow, refuses, answers late, or cannot be reached; for all, or for one. */
  | (Lasting & {
      readonly do: 'bad_backend'
      readonly who?: Who
      readonly slowSeconds?: number
      readonly refuses?: boolean
      readonly lateSeconds?: number
      readonly isCut?: boolean
    })
  /** The backend goes down, and comes up without any memory of sessions. */
  | (Lasting & { readonly do: 'restart_backend' })
  /** Runs of a subscription, or of all, misbehave. */
  | (Lasting & { readonly do: 'misbehave'; readonly subscription?: string; readonly how: Misbehaviour })
  /** All faults that last end, and whoever is paused goes on. */
  | (After & { readonly do: 'heal' })
  /** Nothing is done. */
  | (After & { readonly do: 'wait' })

/** What a step may do. */
export type StepKind = ScenarioStep['do']

/** The names of the subscriptions of a scenario. */
export function subscriptionNames({ subscriptions }: Scenario): readonly string[] {
  return typeof subscriptions === 'number' ? Array.from({ length: subscriptions }, (_, index) => `s${index + 1}`) : subscriptions
}

/**
 * How long a cluster may take to be whole again after the last fault, in seconds: the longest of what may be waited for, one after the other. What was
 * silent is noticed and its lease runs out, or the backend has been up for a lease; calls under way and pauses between attempts end; a new leader is
 * elected, and listens; work that is held back or declined is free again; runs end; the members settle, which a change may put off five times.
 */
export function recoverySeconds(timings: ScenarioTimings): number {
  const call = Math.max(timings.requestTimeoutSeconds, timings.leaseSeconds)
  const election = timings.pollSeconds + timings.electionIntervalSeconds + timings.longestRetrySeconds
  const answers = 3 * (timings.crashGraceSeconds + timings.observeIntervalSeconds)
  const leaderGivesUp = 3 * timings.heartbeatIntervalSeconds
  return [
    ...[timings.leaseSeconds, call, timings.longestRetrySeconds, election, leaderGivesUp, answers],
    ...[timings.heartbeatTimeoutSeconds, timings.massLossHoldSeconds, timings.declineSeconds, timings.longestRunPauseSeconds],
    ...[timings.drainTimeoutSeconds, 5 * timings.settleSeconds],
  ].reduce((sum, seconds) => sum + seconds, 0)
}
