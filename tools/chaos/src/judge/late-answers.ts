import type { HistoryBreach, HistoryEvent, HistoryReport } from '@es/coordination-testing'

/** A report without the renewals that were only answered late. */
export interface AnswersReport {
  readonly report: HistoryReport
  /** How many renewals were answered after the trust before them had run out. */
  readonly lateAnswers: number
}

const RENEWALS: Readonly<Partial<Record<HistoryEvent['type'], readonly HistoryEvent['type'][]>>> = {
  claims_renewed: ['claimed', 'claims_renewed'],
  leadership_renewed: ['elected', 'leadership_renewed'],
}

/**
 * Takes out the renewals (H7) that were sent in time and answered after the trust before them had run out, to a process that had not run in between.
 * Trust counts from when the confirmed statement was sent, so the server can have given nothing away: whether somebody else had it is judged by H1 and H2
 * all the same, for which such a belief has never been interrupted.
 *
 * @param trustSeconds how long after a statement was sent its confirmation is trusted.
 */
export function excuseLateAnswers(report: HistoryReport, history: readonly HistoryEvent[], trustSeconds: number): AnswersReport {
  const breaches = report.breaches.filter((breach) => breach.rule !== 'trusted_too_long' || !wasSentInTime(breach, history, trustSeconds))
  const lateAnswers = report.breaches.length - breaches.length
  const breachCount = report.breachCount - lateAnswers
  return { report: { ...report, breaches, breachCount, holds: breachCount === 0 }, lateAnswers }
}

function wasSentInTime({ events }: HistoryBreach, history: readonly HistoryEvent[], trustSeconds: number): boolean {
  const renewal = events.at(-1)
  if (renewal === undefined) return false
  const grounds = RENEWALS[renewal.type] ?? []
  const isGround = (event: HistoryEvent): boolean =>
    grounds.includes(event.type) && 'instanceId' in event && 'instanceId' in renewal && event.instanceId === renewal.instanceId
  const before = history.slice(0, history.indexOf(renewal)).findLast(isGround)
  const [deadline, next] = [before, renewal].map((event) => (event && 'trustedUntil' in event ? event.trustedUntil : undefined))
  return deadline !== undefined && next !== undefined && next - trustSeconds <= deadline
}
