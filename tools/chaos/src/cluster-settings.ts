/** How the cluster under test is set up: the same in all of its workers. Short, so that many faults fit into a run. */
export interface ClusterSettings {
  readonly leaseSeconds: number
  readonly waitSliceSeconds: number
  readonly pollSeconds: number
  readonly requestTimeoutSeconds: number
  readonly longestRetrySeconds: number
  readonly healthCheckSeconds: number
  readonly heartbeatIntervalSeconds: number
  readonly heartbeatTimeoutSeconds: number
  readonly observeIntervalSeconds: number
  readonly crashGraceSeconds: number
  readonly settleSeconds: number
  readonly coldStartSeconds: number
  readonly drainTimeoutSeconds: number
  readonly declineSeconds: number
}

export function clusterSettings(leaseSeconds: number): ClusterSettings {
  return {
    leaseSeconds,
    waitSliceSeconds: 0.3,
    pollSeconds: 0.2,
    requestTimeoutSeconds: 1,
    longestRetrySeconds: 0.5,
    healthCheckSeconds: 0.5,
    heartbeatIntervalSeconds: 0.3,
    heartbeatTimeoutSeconds: 1.2,
    observeIntervalSeconds: 0.2,
    crashGraceSeconds: 0.2,
    settleSeconds: 0.5,
    coldStartSeconds: 0.5,
    drainTimeoutSeconds: 3,
    declineSeconds: 1,
  }
}

/** Longest times, in seconds, after which somebody must lead and own again once nothing happens to the cluster any more. */
export interface RecoveryBounds {
  readonly leaderSeconds: number
  readonly ownerSeconds: number
}

// Not part of the promise: what statements, starting processes and other users of the machine may take.
const MACHINE_SECONDS = 1

/**
 * The table "How long a takeover takes" of the README, each time its worst line:
 *
 * - leadership: the lease, a third more where only answers are lost, and the longest pause between two questions;
 * - subscriptions: after leadership, three times observeIntervalSeconds + crashGraceSeconds, and coldStartSeconds where the new leader has just started.
 */
export function recoveryBounds(settings: ClusterSettings): RecoveryBounds {
  const { leaseSeconds, pollSeconds, waitSliceSeconds, longestRetrySeconds, observeIntervalSeconds, crashGraceSeconds } = settings
  const leaderSeconds = leaseSeconds + leaseSeconds / 3 + Math.max(pollSeconds, waitSliceSeconds, longestRetrySeconds)
  const ownerSeconds = leaderSeconds + settings.coldStartSeconds + 3 * (observeIntervalSeconds + crashGraceSeconds)
  return { leaderSeconds: leaderSeconds + MACHINE_SECONDS, ownerSeconds: ownerSeconds + MACHINE_SECONDS }
}
