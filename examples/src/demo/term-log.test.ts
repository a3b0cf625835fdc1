import { expect, test } from 'vitest'
import { type Kill, overlaps, type Term, TermLog, takeoverAfter } from './term-log.js'

const TERM: Term = { worker: 'worker-1', pid: 1, token: 1n, electedAt: 0, lastLedAt: 1, firstCommitAt: 0.5, batches: 1, events: 1 }
const KILL: Kill = { worker: 'worker-1', pid: 1, token: 1n, at: 2, position: 10, isInTransaction: false }

test('puts a term together from reports', () => {
  const log = new TermLog()
  log.record('worker-1', 1, { type: 'campaigning', at: 1 })
  log.record('worker-1', 1, { type: 'elected', at: 2, token: '7' })
  log.record('worker-1', 1, { type: 'leading', at: 3, token: '7' })
  log.record('worker-1', 1, { type: 'committed', at: 4, token: '7', position: 5, events: 5 })
  log.record('worker-1', 1, { type: 'committed', at: 5, token: '7', position: 8, events: 3 })
  expect(log.terms).toEqual([
    { worker: 'worker-1', pid: 1, token: 7n, electedAt: 2, lastLedAt: 3, firstCommitAt: 4, batches: 2, events: 8 },
  ])
})

test('keeps the terms of a worker and of the process that replaced it apart, in the order of election', () => {
  const log = new TermLog()
  log.record('worker-1', 2, { type: 'elected', at: 9, token: '8' })
  log.record('worker-1', 1, { type: 'elected', at: 2, token: '7' })
  expect(log.terms.map(({ pid, token }) => [pid, token])).toEqual([
    [1, 7n],
    [2, 8n],
  ])
})

test.for<[string, Partial<Term>, number]>([
  ['begins after the other has ended', { electedAt: 1.001, lastLedAt: 2 }, 0],
  ['begins in the instant in which the other is last seen to lead', { electedAt: 1, lastLedAt: 2 }, 1],
  ['lies inside the other', { electedAt: 0.4, lastLedAt: 0.6 }, 1],
  ['began before the other and ends after it', { electedAt: -1, lastLedAt: 5 }, 1],
])('a term that %s', ([, second, expected]) => {
  expect(overlaps([TERM, { ...TERM, pid: 2, ...second }])).toHaveLength(expected)
})

test('finds the first election after a kill, and not the term that was killed', () => {
  const second = { ...TERM, worker: 'worker-2', pid: 2, token: 2n, electedAt: 2.1 }
  const third = { ...TERM, worker: 'worker-3', pid: 3, token: 3n, electedAt: 2.2 }
  expect(takeoverAfter(KILL, [TERM, second, third]).successor).toBe(second)
  expect(takeoverAfter(KILL, [TERM]).successor).toBeNull()
})
