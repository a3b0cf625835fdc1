import type { UnassignedSubscription } from '@es/coordination-core'
import type { HeartbeatOutage } from './heartbeat-loop.js'
import { listed } from './listed.js'
import type { Problem, ProblemCode, WorkStatus } from './worker-status.js'

/** What a running worker knows of itself and of the cluster at one moment. Seconds are monotonic. */
export interface ProblemFacts {
  /** By how much this process was late a moment ago; `null` when it was not. */
  readonly lateBySeconds: number | null
  readonly publishOutage: HeartbeatOutage | null
  readonly whyDeaf: string | null
  readonly renewalFailedSince: number | null
  /** When a leader was last heard. */
  readonly leaderHeardAt: number
  /** Who holds the leadership, as the elector sees it. */
  readonly lockHolder: string | null
  readonly claimsFailing: string | null
  readonly work: readonly WorkStatus[]
  /** Subscriptions with a run that was given up. */
  readonly abandoned: readonly string[]
  readonly lostTogether: readonly string[]
  /** For how long the leader's work of a term that is over has been going on; 0 when it is not. */
  readonly workOverdueSeconds: number
  /** What is assigned and runs nowhere, and since when. */
  readonly unowned: ReadonlyMap<string, number>
  readonly unassigned: readonly UnassignedSubscription[]
}

/** How long something may be wrong before it is a problem, in seconds. */
export interface ProblemLimits {
  readonly heartbeatTimeoutSeconds: number
  readonly noLeaderWarningSeconds: number
  readonly drainTimeoutSeconds: number
}

export type FoundProblem = Omit<Problem, 'since'>

/** Everything that is wrong with a running worker, at most one problem of each code. Pure. */
export function findProblems(
  facts: ProblemFacts,
  { heartbeatTimeoutSeconds, noLeaderWarningSeconds, drainTimeoutSeconds }: ProblemLimits,
  now: { readonly monotonic: number; readonly wall: Date },
): FoundProblem[] {
  const { lateBySeconds, publishOutage, whyDeaf, renewalFailedSince, leaderHeardAt, lockHolder, claimsFailing, workOverdueSeconds } = facts
  const found: FoundProblem[] = []
  const add = (code: ProblemCode, message: string): void => void found.push({ code, message })
  const secondsSince = (at: number): string => `${(now.monotonic - at).toFixed(0)} s`

  if (lateBySeconds !== null)
    add('late', `This process was ${lateBySeconds.toFixed(1)} s late: its event loop is blocked, or it was stopped`)
  if (publishOutage !== null) add('publish_failing', describeOutage(publishOutage, now.monotonic))
  if (whyDeaf !== null) add('deaf', whyDeaf)
  if (renewalFailedSince !== null) add('renewal_failing', `This leader has been unable to renew for ${secondsSince(renewalFailedSince)}`)
  if (now.monotonic - leaderHeardAt > noLeaderWarningSeconds) {
    if (lockHolder === null) add('no_leader', `There has been no leader for ${secondsSince(leaderHeardAt)}`)
    else add('leader_silent', `${lockHolder} holds the leadership, but has not been heard for ${secondsSince(leaderHeardAt)}`)
  }
  if (claimsFailing !== null) add('claims_failing', `Claims cannot be made: ${claimsFailing}`)
  const failing = facts.work.filter(({ failures }) => failures > 0)
  if (failing.length > 0)
    add(
      'run_failing',
      `Failing: ${listed(failing.map(({ subscription, lastError }) => `${subscription} (${lastError ?? 'ended by itself'})`))}`,
    )
  const denied = facts.work.filter(
    ({ phase, since }) => phase === 'denied' && now.wall.getTime() - since.getTime() > heartbeatTimeoutSeconds * 1000,
  )
  if (denied.length > 0)
    add('claims_denied', `Held by others: ${listed(denied.map(({ subscription, holder }) => `${subscription} (${holder ?? 'unknown'})`))}`)
  if (facts.abandoned.length > 0) add('run_abandoned', `Abandoned runs that may still be running: ${listed(facts.abandoned)}`)
  if (facts.lostTogether.length > 0) add('mass_loss', `Most instances fell silent at once: ${listed(facts.lostTogether)}`)
  if (workOverdueSeconds > drainTimeoutSeconds)
    add(
      'leader_work_stuck',
      `The leader's work was told to end ${workOverdueSeconds.toFixed(0)} s ago and goes on; this instance does not lead meanwhile`,
    )
  const unowned = [...facts.unowned].filter(([, since]) => now.monotonic - since > heartbeatTimeoutSeconds / 3)
  if (unowned.length > 0)
    add('unowned', `Assigned, but running nowhere: ${listed(unowned.map(([name, since]) => `${name} (for ${secondsSince(since)})`))}`)
  if (facts.unassigned.length > 0)
    add('unassigned', `Nobody can run ${listed(facts.unassigned.map(({ subscription, reason }) => `${subscription} (${reason})`))}`)
  return found
}

function describeOutage({ since, error, lastSentAt }: HeartbeatOutage, now: number): string {
  const last = lastSentAt === null ? 'none was sent so far' : `the last one was sent at ${lastSentAt.toISOString()}`
  return `No heartbeat could be published for ${(now - since).toFixed(0)} s: ${error} (${last})`
}
