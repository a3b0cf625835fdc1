import { expect, test } from 'vitest'
import type { RunSpan } from '../history.js'
import type { Phase } from '../scene.js'
import { judge } from '../verdict.js'
import type { TimelineInput } from './timeline-input.js'
import { renderTimeline } from './timeline-page.js'

const RUN: RunSpan = {
  ...{
    worker: 'worker-1',
    pid: 11,
    subscription: 'orders <&>',
    token: 758n,
    from: 101,
    until: 104,
    end: 'killed',
    batches: 3,
    events: 1234,
  },
}
const PHASES: readonly Phase[] = [
  { kind: 'start', title: 'all "start"', from: 100, until: 104, gapLimitSeconds: 1, fewestStarts: 1 },
  { kind: 'kill', title: 'kill', from: 104, until: 110, gapLimitSeconds: 1, fewestStarts: 1 },
]

function page(change: Partial<TimelineInput> = {}): string {
  const runs = [RUN, { ...RUN, worker: 'worker-2', pid: 12, token: 759n, from: 104.5, until: 109, end: null }]
  const findings = {
    evidence: [],
    runs,
    terms: [{ worker: 'worker-1', pid: 11, token: 5n, from: 101, until: 104 }],
    phases: PHASES,
    planned: [],
  }
  return renderTimeline({
    ...findings,
    verdict: judge(findings),
    marks: [
      { kind: 'started', at: 100, worker: 'worker-1' },
      { kind: 'killed', at: 104, worker: 'worker-1' },
      { kind: 'database', at: 106, until: 107, worker: null },
    ],
    ...{ startedAt: 100, endedAt: 110, workers: ['worker-1', 'worker-2'], subscriptions: ['orders <&>'], leaseSeconds: 2 },
    ...change,
  })
}

test('tells of each run its times and its token', () => {
  const html = page()
  expect(html).toContain('fencing token 758')
  expect(html).toContain('1.00 s to 4.00 s, 3.00 s')
  expect(html).toContain('1,234 events in 3 transactions')
  expect(html).toContain('had no owner from 4.00 s to 4.50 s: 500 ms')
  expect(html).toContain('SIGKILL for worker-1 at 4.00 s')
  expect(html).toContain('The database is away from 6.00 s to 7.00 s')
})

test('needs nothing from elsewhere, and runs nothing', () => {
  expect(page()).not.toMatch(/https?:|<script|<link|url\((?!#)|@import/)
})

test('text is text, whatever is in it', () => {
  const html = page()
  expect(html).toContain('orders &lt;&amp;&gt;')
  expect(html).toContain('all &quot;start&quot;')
  expect(html).not.toContain('orders <&>')
})

test('every element is closed, and every place is a number', () => {
  const html = page()
  for (const tag of ['svg', 'g', 'text', 'table', 'section', 'div', 'span', 'title']) {
    const count = (pattern: RegExp): number => html.match(pattern)?.length ?? 0
    expect([tag, count(new RegExp(`<${tag}[ >]`, 'g'))]).toEqual([tag, count(new RegExp(`</${tag}>`, 'g'))])
  }
  expect(html).not.toMatch(/NaN|undefined|Infinity/)
})

test('says at the top when the verdict does not hold, and why', () => {
  expect(page()).toContain('The verdict does not hold. Failed: events read')
})
