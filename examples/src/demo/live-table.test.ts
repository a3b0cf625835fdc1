import { expect, test } from 'vitest'
import { type Row, renderTable } from './live-table.js'
import type { Term } from './term-log.js'

const row = (worker: string, pid: number, state: string, seesLeader: string | null): Row => ({
  process: { worker, pid },
  state,
  seesLeader,
})
const term: Term = { worker: 'worker-2', pid: 12, token: 758n, electedAt: 1, lastLedAt: 2, firstCommitAt: 1.5, batches: 12, events: 1200 }

test('shows who leads, who waits and how far the work is', () => {
  const members = [
    row('worker-1', 11, 'killed', 'worker-1'),
    row('worker-2', 12, 'leading', 'worker-2'),
    row('worker-3', 13, 'waiting', null),
  ]
  expect(renderTable({ members, terms: [term], position: 1000, events: 4000, seconds: 3.21 }).join('\n')).toMatchInlineSnapshot(`
    "
      worker     process   state      token      batches   events   sees as leader
      worker-1   11        killed                0         0
    > worker-2   12        leading    758        12        1,200    worker-2
      worker-3   13        waiting               0         0        -

      [##########..............................] 1,000 of 4,000 events   3.2 s"
  `)
})
