import { expect, test } from 'vitest'
import type { Evidence } from './evidence.js'
import type { Kill, Term } from './term-log.js'
import { type Findings, judge } from './verdict.js'

const EVIDENCE: Evidence = {
  events: 100,
  checkpoint: 100,
  checkpointToken: 8n,
  applied: 100,
  lost: 0,
  appliedTwice: 0,
  outOfOrder: 0,
  staleWrites: 0,
  tokens: [7n, 8n],
  orders: 20,
  wrongOrders: 0,
}
const FIRST: Term = { worker: 'worker-1', pid: 1, token: 7n, electedAt: 0, lastLedAt: 4.99, firstCommitAt: 0.1, batches: 5, events: 50 }
const SECOND: Term = { worker: 'worker-2', pid: 2, token: 8n, electedAt: 5.01, lastLedAt: 9, firstCommitAt: 5.1, batches: 5, events: 50 }
const KILL: Kill = { worker: 'worker-1', pid: 1, token: 7n, at: 5, position: 50, isInTransaction: true }
const GOOD: Findings = { evidence: EVIDENCE, terms: [FIRST, SECOND], kills: [KILL], plannedKills: 1, takeoverSeconds: 2 }

const withEvidence = (change: Partial<Evidence>): Findings => ({ ...GOOD, evidence: { ...EVIDENCE, ...change } })
const withSecond = (change: Partial<Term>): Findings => ({ ...GOOD, terms: [FIRST, { ...SECOND, ...change }] })
const failed = (findings: Findings): string[] =>
  judge(findings)
    .checks.filter(({ isFine }) => !isFine)
    .map(({ name }) => name)

test('holds when everything is as it should be', () => {
  expect(judge(GOOD)).toMatchObject({ holds: true })
  expect(failed(GOOD)).toEqual([])
})

test.for<[string, Findings, string[]]>([
  ['an event was never applied', withEvidence({ applied: 99, lost: 1 }), ['events read', 'lost']],
  ['the checkpoint is not at the end', withEvidence({ checkpoint: 90 }), ['events read']],
  ['an event was applied twice', withEvidence({ appliedTwice: 1 }), ['applied twice']],
  ['an event was applied before an earlier one', withEvidence({ outOfOrder: 1 }), ['applied out of order']],
  ['an order is wrong', withEvidence({ wrongOrders: 1 }), ['read model equals the log']],
  ['a smaller token wrote after a larger one', withEvidence({ staleWrites: 1 }), ['writes of a stale leader']],
  ['somebody wrote who did not lead', withEvidence({ tokens: [7n, 8n, 9n] }), ['writes outside of any term']],
  [
    'two led at one instant',
    withSecond({ electedAt: 4.9 }),
    ['two leaders at one instant', 'takeover in time', 'every successor got to work'],
  ],
  ['a token did not grow', { ...withSecond({ token: 7n }), evidence: { ...EVIDENCE, tokens: [7n] } }, ['tokens grow from term to term']],
  ['a kill was left out', { ...GOOD, plannedKills: 2 }, ['leaders killed at work']],
  ['a takeover took too long', withSecond({ electedAt: 7.5, firstCommitAt: 7.6 }), ['takeover in time']],
  ['a successor did nothing', withSecond({ firstCommitAt: null }), ['every successor got to work']],
  ['nobody took over', { ...GOOD, terms: [FIRST] }, ['writes outside of any term', 'takeover in time', 'every successor got to work']],
])('does not hold when %s', ([, findings, expected]) => {
  expect(judge(findings).holds).toBe(false)
  expect(failed(findings)).toEqual(expected)
})
