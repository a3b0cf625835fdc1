import type { HistoryEvent } from '@es/coordination-testing'
import { describe, expect, it } from 'vitest'
import type { SubscriptionEvidence } from './store-evidence.js'
import { type Findings, judge, TOLERANCE_SECONDS } from './verdict.js'

const HISTORY: readonly HistoryEvent[] = [
  { type: 'instance_started', at: 0, instanceId: 'a', incarnation: '1' },
  { type: 'elected', at: 0.1, instanceId: 'a', token: 1n },
  { type: 'claimed', at: 0.2, instanceId: 'a', subscription: 's', token: 2n },
  { type: 'event_applied', at: 1, instanceId: 'a', subscription: 's', position: 1, token: 2n },
  { type: 'event_applied', at: 2, instanceId: 'a', subscription: 's', position: 2, token: 2n },
  { type: 'fault', at: 3, kind: 'one session ended', instanceId: 'a' },
  { type: 'end', at: 9 },
]

const SUBSCRIPTION: SubscriptionEvidence = {
  ...{ subscription: 's', position: 2, lost: 0, repeated: 0, outOfOrder: 0, staleWrites: 0, isTrue: true },
}

const FINE: Findings = {
  history: HISTORY,
  evidence: { log: { events: 2, missing: 0, acknowledged: 2, acknowledgedLost: 0 }, subscriptions: [SUBSCRIPTION] },
  subscriptions: ['s'],
  bounds: { leaderSeconds: 1, ownerSeconds: 1 },
  wallClockStepSeconds: 0.001,
}

const failures = (findings: Findings): string[] => {
  const { checks, holds } = judge(findings)
  const failed = checks.filter(({ isFine }) => !isFine).map(({ name }) => name)
  expect(holds).toBe(failed.length === 0)
  return failed
}
const withSubscription = (change: Partial<SubscriptionEvidence>): Findings => ({
  ...FINE,
  evidence: { ...FINE.evidence, subscriptions: [{ ...SUBSCRIPTION, ...change }] },
})
const withLog = (change: Partial<Findings['evidence']['log']>): Findings => ({
  ...FINE,
  evidence: { ...FINE.evidence, log: { ...FINE.evidence.log, ...change } },
})
const withoutEvent = (type: HistoryEvent['type']): Findings => ({ ...FINE, history: HISTORY.filter((event) => event.type !== type) })

describe('the verdict', () => {
  it('holds for a run in which all is well', () => {
    expect(failures(FINE)).toEqual([])
  })

  it.each([
    ['a breach in the history', withoutEvent('claimed'), 'breaches in the history'],
    ['a position that nobody recorded', { ...FINE, history: HISTORY.filter((_, index) => index !== 4) }, 'breaches in the history'],
    ['an acknowledged event that is gone', withLog({ acknowledgedLost: 1 }), 'acknowledged events in the log'],
    ['a hole in the log', withLog({ missing: 1 }), 'acknowledged events in the log'],
    ['a feed that fed nothing', withLog({ acknowledged: 0 }), 'acknowledged events in the log'],
    ['an event lost', withSubscription({ lost: 1 }), 'events lost'],
    ['an event applied twice', withSubscription({ repeated: 1 }), 'events applied twice'],
    ['an event out of order', withSubscription({ outOfOrder: 1 }), 'events applied out of order'],
    ['a stale write', withSubscription({ staleWrites: 1 }), 'writes of a stale owner'],
    ['a projection that differs from the log', withSubscription({ isTrue: false }), 'projections that equal the log'],
    ['a projection that is not there', { ...FINE, evidence: { ...FINE.evidence, subscriptions: [] } }, 'projections that equal the log'],
    ['a wall clock that was set', { ...FINE, wallClockStepSeconds: -TOLERANCE_SECONDS }, 'wall clock left alone'],
  ] as const)('does not hold for %s', (_, findings, name) => {
    expect(failures(findings)).toEqual([name])
  })

  it('does not hold where nobody owns or leads for longer than the bounds', () => {
    const lost: HistoryEvent[] = [
      { type: 'claim_lost', at: 5, instanceId: 'a', subscription: 's' },
      { type: 'leadership_lost', at: 5, instanceId: 'a' },
    ]
    const history = [...HISTORY.slice(0, -1), ...lost, { type: 'end', at: 9 } as const]
    const { report } = judge({ ...FINE, history })
    expect(report.breaches.map(({ rule }) => rule)).toEqual(['without_leader', 'without_owner'])
    expect(judge({ ...FINE, history, bounds: { leaderSeconds: 4.1, ownerSeconds: 4.1 } }).holds).toBe(true)
  })
})
