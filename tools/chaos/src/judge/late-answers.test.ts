import { checkHistory, type HistoryEvent } from '@es/coordination-testing'
import { describe, expect, it } from 'vitest'
import { type AnswersReport, excuseLateAnswers } from './late-answers.js'

const TRUST_SECONDS = 1

/** `a` is trusted until 1, and renewed at `at`, by a statement that was sent at `sentAt`. */
function renewal({ at, sentAt }: { readonly at: number; readonly sentAt: number }, others: readonly HistoryEvent[] = []): AnswersReport {
  const history: HistoryEvent[] = [
    { type: 'elected', at: 0, instanceId: 'a', token: 1n, trustedUntil: 1 },
    { type: 'claimed', at: 0, instanceId: 'a', subscription: 's', token: 1n, trustedUntil: 1 },
    { type: 'leadership_renewed', at, instanceId: 'a', trustedUntil: sentAt + TRUST_SECONDS },
    { type: 'claims_renewed', at, instanceId: 'a', trustedUntil: sentAt + TRUST_SECONDS },
    ...others,
  ]
  return excuseLateAnswers(checkHistory(history), history, TRUST_SECONDS)
}

describe('a renewal that was answered after the trust had run out', () => {
  it('is excused and counted when it had been sent before', () => {
    expect(renewal({ at: 1.5, sentAt: 0.9 })).toMatchObject({ lateAnswers: 2, report: { holds: true, breachCount: 0, breaches: [] } })
  })

  it('is a breach when it had been sent afterwards', () => {
    expect(renewal({ at: 1.5, sentAt: 1.2 })).toMatchObject({ lateAnswers: 0, report: { holds: false, breachCount: 2 } })
  })

  it('does not excuse that somebody else had it meanwhile', () => {
    const rival: HistoryEvent = { type: 'claimed', at: 1.2, instanceId: 'b', subscription: 's', token: 2n, trustedUntil: 9 }
    const { report, lateAnswers } = renewal({ at: 1.5, sentAt: 0.9 }, [rival])
    expect(lateAnswers).toBe(2)
    expect(report.breaches.map(({ rule }) => rule)).toEqual(['two_owners'])
  })
})

it('a run that starts past the deadline is a breach', () => {
  const history: HistoryEvent[] = [
    { type: 'claimed', at: 0, instanceId: 'a', subscription: 's', token: 1n, trustedUntil: 1 },
    { type: 'run_started', at: 1.5, instanceId: 'a', subscription: 's', token: 1n },
  ]
  expect(excuseLateAnswers(checkHistory(history), history, TRUST_SECONDS)).toMatchObject({ lateAnswers: 0, report: { breachCount: 1 } })
})
