import { expect, test } from 'vitest'
import type { Evidence } from './evidence.js'
import type { RunSpan, TermSpan } from './history.js'
import type { Phase } from './scene.js'
import { type Findings, findGaps, judge } from './verdict.js'

const EVIDENCE: Evidence = {
  ...{ subscription: 'orders', events: 100, checkpoint: 100, applied: 100, lost: 0, appliedTwice: 0, outOfOrder: 0, staleWrites: 0 },
  writers: [
    { worker: 'worker-1', token: 7n },
    { worker: 'worker-2', token: 8n },
  ],
  ...{ rows: 20, wrongRows: 0 },
}
const RUN = { subscription: 'orders', batches: 5, events: 50 }
const FIRST: RunSpan = { ...RUN, worker: 'worker-1', pid: 1, token: 7n, from: 1, until: 5, end: 'killed' }
const SECOND: RunSpan = { ...RUN, worker: 'worker-2', pid: 2, token: 8n, from: 6, until: 9, end: 'stopping' }
const TERM: TermSpan = { worker: 'worker-1', pid: 1, token: 3n, from: 1, until: 5 }
const START: Phase = { kind: 'start', title: 'start', from: 0, until: 5.001, gapLimitSeconds: 0, fewestStarts: 1 }
const KILL: Phase = { kind: 'kill', title: 'kill', from: 5.001, until: 10, gapLimitSeconds: 2, fewestStarts: 1 }
const GOOD: Findings = { evidence: [EVIDENCE], runs: [FIRST, SECOND], terms: [TERM], phases: [START, KILL], planned: ['start', 'kill'] }

const withEvidence = (change: Partial<Evidence>): Findings => ({ ...GOOD, evidence: [{ ...EVIDENCE, ...change }] })
const withSecond = (change: Partial<RunSpan>): Findings => ({ ...GOOD, runs: [FIRST, { ...SECOND, ...change }] })
const failed = (findings: Findings): string[] =>
  judge(findings)
    .checks.filter(({ isFine }) => !isFine)
    .map(({ name }) => name)

test('holds when everything is as it should be', () => {
  expect(failed(GOOD)).toEqual([])
  expect(judge(GOOD)).toMatchObject({ holds: true, starts: 2, fewestStarts: 2 })
})

test('a gap counts for the phase in which most of it lies', () => {
  expect(judge(GOOD).costs).toMatchObject([
    { phase: START, longestGap: null, starts: 1 },
    { phase: KILL, longestGap: { subscription: 'orders', from: 5, until: 6 }, starts: 1 },
  ])
})

test('gaps are those of each subscription by itself', () => {
  const other = { ...FIRST, subscription: 'invoices', until: 20 }
  expect(findGaps([FIRST, other, SECOND])).toEqual([{ subscription: 'orders', from: 5, until: 6 }])
})

test.for<[string, Findings, string[]]>([
  ['an event was never applied', withEvidence({ applied: 99, lost: 1 }), ['events read', 'events lost']],
  ['a checkpoint is not at the end', withEvidence({ checkpoint: 90 }), ['events read']],
  ['there was nothing to read', withEvidence({ events: 0, applied: 0, checkpoint: 0 }), ['events read']],
  ['there is no evidence', { ...GOOD, evidence: [] }, ['events read']],
  ['an event was applied twice', withEvidence({ appliedTwice: 1 }), ['events applied twice']],
  ['an event was applied before an earlier one', withEvidence({ outOfOrder: 1 }), ['events applied out of order']],
  ['a read model is wrong', withEvidence({ wrongRows: 1 }), ['read models equal the log']],
  ['a smaller token wrote after a larger one', withEvidence({ staleWrites: 1 }), ['writes of a stale owner']],
  ['somebody wrote without a claim', withEvidence({ writers: [{ worker: 'worker-2', token: 7n }] }), ['writers without a claim']],
  ['two ran it at one instant', withSecond({ from: 4.9 }), ['two owners at one instant']],
  ['two led at one instant', { ...GOOD, terms: [TERM, { ...TERM, pid: 2, token: 4n, from: 4 }] }, ['two leaders at one instant']],
  [
    'a token did not grow',
    { ...withSecond({ token: 7n, worker: 'worker-1' }), evidence: [{ ...EVIDENCE, writers: [] }] },
    ['tokens grow from owner to owner'],
  ],
  ['a takeover took too long', withSecond({ from: 8 }), ['every subscription owned again in time']],
  [
    'work went to and fro',
    { ...GOOD, runs: [FIRST, SECOND, { ...SECOND, token: 9n, from: 9.5, until: 9.6 }, { ...SECOND, token: 10n, from: 9.7, until: 9.8 }] },
    ['no more moves than needed'],
  ],
  ['a fault was left out', { ...GOOD, planned: ['start', 'kill', 'database'] }, ['everything planned has happened']],
])('does not hold when %s', ([, findings, expected]) => {
  expect(judge(findings).holds).toBe(false)
  expect(failed(findings)).toEqual(expected)
})
