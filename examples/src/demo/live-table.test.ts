import { expect, test } from 'vitest'
import { type Frame, type Row, renderTable } from './live-table.js'

const row = (worker: string, state: Row['state'], isLeader = false): Row => ({
  process: { worker },
  state,
  isLeader,
  holds: { orders: '758' },
})

test('shows who runs what, who leads, and how far the work is', () => {
  const members = [row('worker-1', 'killed'), row('worker-2', 'running', true), row('worker-3', 'starting')]
  const crew: Frame['crew'] = {
    members,
    ownerOf: (subscription) => (subscription === 'orders' ? (members[1] ?? null) : null),
    positionOf: () => 1234,
  }
  const workers = ['worker-1', 'worker-2', 'worker-3', 'worker-4']
  const lines = renderTable({ crew, subscriptions: ['orders', 'invoices'], workers, logEnd: 4000, seconds: 3.21 })
  expect(lines.join('\n')).toMatchInlineSnapshot(`
    "
                worker-1    worker-2    worker-3    worker-4    position
                killed      LEADS       starting
      orders    ·           ■ 758       ·           ·           1,234
      invoices  ·           ·           ·           ·           1,234

      3.2 s, the log ends at 4,000"
  `)
})
