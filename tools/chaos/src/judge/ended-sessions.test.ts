import { checkHistory, type HistoryEvent } from '@es/coordination-testing'
import { describe, expect, it } from 'vitest'
import { FAULT_KINDS } from '../plan/fault-kinds.js'
import { AWAKE_KNOWS_WITHIN_SECONDS, type ExcusedReport, excuseEndedSessions } from './ended-sessions.js'

/** `a` leads and owns `s`; something happens at 1; `b` has both at 1.1; `a` knows at `knownAt`. */
function overlap({ kind = FAULT_KINDS.session_ended.title as string, whom = 'a', at = 1, knownAt = 1.3 } = {}): ExcusedReport {
  const history: HistoryEvent[] = [
    { type: 'instance_started', at: 0, instanceId: 'a', incarnation: '1' },
    { type: 'instance_started', at: 0, instanceId: 'b', incarnation: '1' },
    { type: 'elected', at: 0.1, instanceId: 'a', token: 1n, trustedUntil: 9 },
    { type: 'claimed', at: 0.1, instanceId: 'a', subscription: 's', token: 1n, trustedUntil: 9 },
    { type: 'run_started', at: 0.1, instanceId: 'a', subscription: 's', token: 1n },
    { type: 'fault', at, kind, instanceId: whom },
    { type: 'elected', at: 1.1, instanceId: 'b', token: 2n, trustedUntil: 9 },
    { type: 'claimed', at: 1.1, instanceId: 'b', subscription: 's', token: 2n, trustedUntil: 9 },
    { type: 'run_started', at: 1.1, instanceId: 'b', subscription: 's', token: 2n },
    { type: 'leadership_lost', at: knownAt, instanceId: 'a', token: 1n },
    { type: 'claim_lost', at: knownAt, instanceId: 'a', subscription: 's', token: 1n },
    { type: 'run_stopped', at: knownAt + 0.1, instanceId: 'a', subscription: 's', token: 1n, cause: 'lost' },
    { type: 'end', at: 5 },
  ].toSorted((one, other) => one.at - other.at) as HistoryEvent[]
  const report = checkHistory(history)
  expect(report.breaches.map(({ rule }) => rule)).toEqual(['two_leaders', 'two_owners', 'two_runs'])
  return excuseEndedSessions(report, history)
}

describe('an overlap after the session of its holder was ended', () => {
  it('is excused and measured when the holder knew in time', () => {
    const { report, excused, longestSeconds } = overlap()
    expect(report).toMatchObject({ holds: true, breachCount: 0, breaches: [] })
    expect(excused).toBe(3)
    expect(longestSeconds).toBeCloseTo(0.2)
  })

  it.each([
    ['when the holder took too long', { knownAt: 1.01 + AWAKE_KNOWS_WITHIN_SECONDS }],
    ["when it was somebody else's session", { whom: 'b' }],
    ['after any other fault', { kind: FAULT_KINDS.black_hole.title }],
    ['when the session was ended after the overlap had begun', { at: 1.2 }],
  ])('is a breach %s', (_, what) => {
    expect(overlap(what)).toMatchObject({ excused: 0, report: { holds: false, breachCount: 3 } })
  })
})

it('does not excuse what was taken again after the ended session', () => {
  const history: HistoryEvent[] = [
    { type: 'claimed', at: 0, instanceId: 'a', subscription: 's', token: 1n },
    { type: 'fault', at: 1, kind: FAULT_KINDS.session_ended.title, instanceId: 'a' },
    { type: 'claim_lost', at: 1.1, instanceId: 'a', subscription: 's' },
    { type: 'claimed', at: 2, instanceId: 'a', subscription: 's', token: 2n },
    { type: 'claimed', at: 60, instanceId: 'b', subscription: 's', token: 3n },
    { type: 'claim_lost', at: 120, instanceId: 'a', subscription: 's' },
  ]
  expect(excuseEndedSessions(checkHistory(history), history)).toMatchObject({ excused: 0, report: { holds: false } })
})

it('does not excuse an overlap by the loss of something else', () => {
  const history: HistoryEvent[] = [
    { type: 'claimed', at: 0, instanceId: 'a', subscription: 's', token: 1n },
    { type: 'claimed', at: 0, instanceId: 'a', subscription: 't', token: 1n },
    { type: 'fault', at: 1, kind: FAULT_KINDS.session_ended.title, instanceId: 'a' },
    { type: 'claimed', at: 1.1, instanceId: 'b', subscription: 's', token: 3n },
    { type: 'claim_lost', at: 1.2, instanceId: 'a', subscription: 't' },
    { type: 'claim_lost', at: 5, instanceId: 'a', subscription: 's' },
  ]
  expect(excuseEndedSessions(checkHistory(history), history)).toMatchObject({ excused: 0, report: { holds: false } })
})

it('excuses nothing but overlaps', () => {
  const history: HistoryEvent[] = [
    { type: 'claimed', at: 0, instanceId: 'a', subscription: 's', token: 2n },
    { type: 'fault', at: 1, kind: FAULT_KINDS.session_ended.title, instanceId: 'a' },
    { type: 'claim_lost', at: 1.1, instanceId: 'a', subscription: 's' },
    { type: 'claimed', at: 1.2, instanceId: 'b', subscription: 's', token: 1n },
  ]
  const report = checkHistory(history)
  expect(report.breaches.map(({ rule }) => rule)).toEqual(['token_not_growing'])
  expect(excuseEndedSessions(report, history).report.breachCount).toBe(1)
})
