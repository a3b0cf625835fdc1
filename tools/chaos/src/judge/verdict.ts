import { checkHistory, type HistoryEvent, type HistoryReport } from '@es/coordination-testing'
import type { RecoveryBounds } from '../cluster-settings.js'
import { type ExcusedReport, excuseEndedSessions } from './ended-sessions.js'
import type { StoreEvidence, SubscriptionEvidence } from './store-evidence.js'

/** Everything that is judged. */
export interface Findings {
  /** What workers, parent and store recorded, put together. */
  readonly history: readonly HistoryEvent[]
  readonly evidence: StoreEvidence
  readonly subscriptions: readonly string[]
  readonly bounds: RecoveryBounds
  /** By how much the wall clock was moved against the monotonic one during the run, in seconds. */
  readonly wallClockStepSeconds: number
}

/** One thing that must be so. */
interface Check {
  readonly name: string
  readonly isFine: boolean
  /** What was found, in a few words. */
  readonly found: string
}

export interface Verdict {
  readonly holds: boolean
  readonly checks: readonly Check[]
  /** Without what is excused. */
  readonly report: HistoryReport
  readonly overlaps: Omit<ExcusedReport, 'report'>
}

/** How far recorded times may be off, in seconds: a signal arrives, and a commit is stamped, a few milliseconds before or after what was recorded. */
export const TOLERANCE_SECONDS = 0.05

/** Whether the run kept the promise: by the recorded history, and by what is in the store. */
export function judge(findings: Findings): Verdict {
  const { history, evidence, subscriptions, bounds } = findings
  const { log } = evidence
  const checked = checkHistory(history, {
    subscriptions,
    maxSecondsWithoutOwner: bounds.ownerSeconds,
    maxSecondsWithoutLeader: bounds.leaderSeconds,
    toleranceSeconds: TOLERANCE_SECONDS,
    lastPositions: new Map(subscriptions.map((subscription) => [subscription, log.events])),
    // Workers stand still in the middle of a write here. The next owner reads the checkpoint in the transaction that puts its token down, so a write
    // that still gets in before that is harmless.
    skip: ['late_write'],
    maxBreaches: 10_000,
  })
  const overlaps = excuseEndedSessions(checked, history)
  const { report } = overlaps
  const sum = (count: (each: SubscriptionEvidence) => number): number =>
    evidence.subscriptions.reduce((total, each) => total + count(each), 0)
  const projections = evidence.subscriptions.filter(({ isTrue }) => isTrue).length
  const checks: Check[] = [
    mustBeZero('breaches in the history', report.breachCount),
    {
      name: 'acknowledged events in the log',
      isFine: log.acknowledged > 0 && log.acknowledgedLost === 0 && log.missing === 0,
      found: `${log.acknowledged - log.acknowledgedLost} of ${log.acknowledged}`,
    },
    mustBeZero(
      'events lost',
      sum((each) => each.lost),
    ),
    mustBeZero(
      'events applied twice',
      sum((each) => each.repeated),
    ),
    mustBeZero(
      'events applied out of order',
      sum((each) => each.outOfOrder),
    ),
    mustBeZero(
      'writes of a stale owner',
      sum((each) => each.staleWrites),
    ),
    {
      name: 'projections that equal the log',
      isFine: projections === subscriptions.length && log.events > 0,
      found: `${projections} of ${subscriptions.length}`,
    },
    {
      // Times of commits are those of the wall clock.
      name: 'wall clock left alone',
      isFine: Math.abs(findings.wallClockStepSeconds) < TOLERANCE_SECONDS,
      found: `${(findings.wallClockStepSeconds * 1000).toFixed(1)} ms off`,
    },
  ]
  return { holds: checks.every(({ isFine }) => isFine), checks, report, overlaps }
}

function mustBeZero(name: string, count: number): Check {
  return { name, isFine: count === 0, found: String(count) }
}
