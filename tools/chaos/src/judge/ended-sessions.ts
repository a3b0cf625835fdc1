import type { HistoryBreach, HistoryEvent, HistoryReport } from '@es/coordination-testing'
import { ENDS_SESSIONS } from '../plan/fault-kinds.js'

/**
 * How soon an instance that is awake has to know that its session was ended on the server, in seconds. It is told at once, and knows when it
 * gets the processor; the server frees its locks without waiting for that.
 */
export const AWAKE_KNOWS_WITHIN_SECONDS = 0.5

/** A report without the overlaps that are the price of ending a session on the server. */
export interface ExcusedReport {
  readonly report: HistoryReport
  readonly excused: number
  /** For how long the former holder went on to believe, at most. */
  readonly longestSeconds: number
}

const OVERLAPS: ReadonlySet<string> = new Set(['two_leaders', 'two_owners', 'two_runs'])

/**
 * Takes out the overlaps (H1 to H3) that are not promised not to be: somebody ended the holder's session on the server, a rival got the lock, and the
 * holder, which was awake, knew a moment later. They are counted and measured instead. An overlap is excused only when the holder knew in time.
 */
export function excuseEndedSessions(report: HistoryReport, history: readonly HistoryEvent[]): ExcusedReport {
  const ends = history.filter((event) => event.type === 'fault' && ENDS_SESSIONS.has(event.kind))
  let longestSeconds = 0
  const breaches = report.breaches.filter((breach) => {
    const seconds = OVERLAPS.has(breach.rule) ? knewAfter(breach, ends, history) : null
    if (seconds !== null) longestSeconds = Math.max(longestSeconds, seconds)
    return seconds === null
  })
  const excused = report.breaches.length - breaches.length
  const breachCount = report.breachCount - excused
  return { report: { ...report, breaches, breachCount, holds: breachCount === 0 }, excused, longestSeconds }
}

/**
 * How long after the rival's beginning the holder knew; `null` when what it held then was not lost by an ended session, or the holder took too long.
 */
function knewAfter({ at, events }: HistoryBreach, ends: readonly HistoryEvent[], history: readonly HistoryEvent[]): number | null {
  const [holder] = events
  if (holder === undefined || !('instanceId' in holder)) return null
  const isLoss = (event: HistoryEvent): boolean =>
    'subscription' in holder ? event.type === 'claim_lost' && event.subscription === holder.subscription : event.type === 'leadership_lost'
  const isOfHolder = (event: HistoryEvent): boolean => 'instanceId' in event && event.instanceId === holder.instanceId
  const ended = ends.findLast((event) => isOfHolder(event) && event.at >= holder.at && event.at <= at)
  const known = ended && history.find((event) => isLoss(event) && isOfHolder(event) && event.at >= at)
  return known && known.at - ended.at <= AWAKE_KNOWS_WITHIN_SECONDS ? known.at - at : null
}
