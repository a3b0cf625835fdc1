import { expect, test } from 'vitest'
import { gapsBetween, History, overlaps, type Span } from './history.js'
import type { WorkerReport } from './worker-messages.js'

const RUN = { subscription: 'orders', token: '7' } as const
const sample = (at: number, holds: Record<string, string>, leads: string | null = null): WorkerReport => ({
  type: 'sample',
  at,
  holds,
  leads,
})

function historyOf(...reports: WorkerReport[]): History {
  const history = new History()
  for (const report of reports) history.record('worker-1', 11, report)
  return history
}

test('puts a run together from reports', () => {
  const { runs, openRuns } = historyOf(
    { type: 'run_started', at: 1, ...RUN },
    sample(1.5, { orders: '7' }),
    { type: 'committed', at: 2, ...RUN, position: 10, events: 10 },
    { type: 'committed', at: 3, ...RUN, position: 15, events: 5 },
    { type: 'run_ended', at: 4, ...RUN, cause: 'revoked' },
  )
  expect(runs).toEqual([
    { worker: 'worker-1', pid: 11, subscription: 'orders', token: 7n, from: 1, until: 4, end: 'revoked', batches: 2, events: 15 },
  ])
  expect(openRuns).toEqual([])
})

test('a run that lost its claim was entitled until it last held it, whenever it noticed', () => {
  const started = { type: 'run_started', at: 1, ...RUN } as const
  const ended = { type: 'run_ended', at: 9, ...RUN, cause: 'lost' } as const
  expect(historyOf(started, sample(2, { orders: '7' }), sample(8.9, {}), ended).runs).toMatchObject([{ until: 2, end: 'lost' }])
  expect(historyOf(started, ended).runs).toMatchObject([{ from: 1, until: 1, end: 'lost' }])
})

test('a claim under another token says nothing about a run', () => {
  expect(historyOf({ type: 'run_started', at: 1, ...RUN }, sample(5, { orders: '8' })).runs).toMatchObject([{ until: 1, end: null }])
})

test('whatever a killed process was running ended there', () => {
  const history = historyOf({ type: 'run_started', at: 1, ...RUN }, sample(2, { orders: '7' }))
  history.recordKill(12, 2.5)
  expect(history.openRuns).toHaveLength(1)
  history.recordKill(11, 3)
  expect(history.runs).toMatchObject([{ until: 3, end: 'killed' }])
})

test('a claim that is run again after a failure is two runs', () => {
  const history = historyOf(
    { type: 'run_started', at: 1, ...RUN },
    { type: 'run_ended', at: 2, ...RUN, cause: 'failed' },
    { type: 'run_started', at: 3, ...RUN },
  )
  expect(history.runs).toMatchObject([
    { from: 1, until: 2, end: 'failed' },
    { from: 3, end: null },
  ])
})

test('a term lasts as long as samples say that the worker leads', () => {
  const { terms } = historyOf({ type: 'elected', at: 1, token: '5' }, sample(2, {}, '5'), sample(3, {}), { type: 'unseated', at: 4 })
  expect(terms).toEqual([{ worker: 'worker-1', pid: 11, token: 5n, from: 1, until: 2 }])
})

test.for<[string, Span, number]>([
  ['begins after the other has ended', { from: 1.001, until: 2 }, 0],
  ['begins in the instant in which the other is last known', { from: 1, until: 2 }, 1],
  ['lies inside the other', { from: 0.4, until: 0.6 }, 1],
  ['began before the other and ends after it', { from: -1, until: 5 }, 1],
])('a span that %s', ([, second, expected]) => {
  expect(overlaps([{ from: 0, until: 1 }, second])).toHaveLength(expected)
})

test('gaps lie between spans, and not where another one covers them', () => {
  const spans = [
    { from: 0, until: 4 },
    { from: 1, until: 2 },
    { from: 6, until: 7 },
    { from: 4, until: 5 },
  ]
  expect(gapsBetween(spans)).toEqual([{ from: 5, until: 6 }])
})
