import { describe, expect, it } from 'vitest'
import type { ScalingResults } from './results.js'
import { scalingCharts } from './scaling-charts.js'
import { scalingTables } from './scaling-tables.js'
import { svgChart } from './svg-chart.js'

const figures = {
  steady: { published: 26.67, publishedBytes: 9964, delivered: 2667, deliveredBytes: 3 * 2 ** 20 },
  stable: { start: 1.02, join: 2.04, leave: 0, crash: null },
  follower: { cpuSeconds: 0.0012 },
  leader: { cpuSeconds: 0.018 },
}
const results: ScalingResults = {
  machine: {
    ...{
      date: '2026-01-01 12:00',
      cpu: 'Some CPU',
      cores: 2,
      memoryGiB: 24,
      system: 'Linux 6',
      node: '20.19.0',
      loadBefore: 0,
      loadAfter: 1,
    },
  },
  server: 'PostgreSQL 18.4',
  cells: [
    { cell: { instances: 100, subscriptions: 1000, hearing: 'all' }, figures },
    { cell: { instances: 10, subscriptions: 100_000, hearing: 'all' }, reason: 'subscriptions.length must be at most 10000, got 100000' },
    { cell: { instances: 100, subscriptions: 100_000, hearing: 'all' }, reason: 'subscriptions.length must be at most 10000, got 100000' },
    {
      cell: { instances: 100, subscriptions: 1000, hearing: 'leader' },
      figures: { ...figures, steady: { ...figures.steady, delivered: 700 } },
    },
  ],
  fanOut: [{ count: 50, figures: { listeners: 50, serverSecondsHeard: 70e-6, serverSecondsWoken: 60e-6, clientSecondsHeard: 40e-6 } }],
  workers: [
    {
      count: 50,
      figures: { instances: 50, subscriptions: 500, connections: 100, statements: 150, serverSeconds: 0.17, clientSeconds: 0.15 },
    },
    { count: 100, reason: 'not done within 120 s' },
  ],
}

describe('the tables', () => {
  // Without the blanks that align the columns.
  const tables = scalingTables(results).replace(/ +\|/g, ' |')

  it('begin with where and when', () => {
    expect(tables).toMatch(/^2026-01-01 12:00 UTC\. 2 cores of Some CPU, .* PostgreSQL 18\.4\.\n/)
  })

  it('have a line for each size', () => {
    expect(tables).toContain('| 100 | 1,000 | 26.7 /s | 2,667 /s | 9.73 KiB/s | 3 MiB/s |\n')
    expect(tables).toContain('| 100 | 1,000 | 0.12 % | 1.8 % |\n')
    expect(tables).toContain('| 100 | 1,000 | 1.02 s | 2.04 s | nothing to move | not while watched |\n')
    expect(tables).toContain('| 100 | 1,000 | 700 /s | 2,667 /s | 0.12 % | 0.12 % | 2.04 s | not while watched |\n')
    expect(tables).toContain('| 50 | 70 us | 60 us | 40 us |\n')
    expect(tables).toContain('| 50 | 500 | 100 | 150 /s | 17 % | 17 % | 0.3 % |\n')
  })

  it('say of what could not be measured why, once for each reason', () => {
    expect(tables).toContain('| 10 | 100,000 | - | - | - | - |\n')
    expect(tables).toContain('\nNot measured: 10 x 100,000, 100 x 100,000. subscriptions.length must be at most 10000, got 100000.\n')
    expect(tables).toContain('\nNot measured: 100. not done within 120 s.\n')
  })

  it('do without a server', () => {
    const simulated = scalingTables({ ...results, server: null, fanOut: [], workers: [] })
    expect(simulated).not.toContain('server')
    expect(simulated).toContain('### Until the assignment is stable')
  })
})

describe('the charts', () => {
  it('are drawn of what was measured', () => {
    const charts = scalingCharts(results)
    expect([...charts.keys()]).toEqual([
      ...['scaling-messages.svg', 'scaling-bytes.svg', 'scaling-processor.svg', 'scaling-stable.svg', 'scaling-server.svg'],
    ])
    for (const chart of charts.values()) expect(svgChart(chart)).toContain('</svg>')
  })

  it('are left out where there is nothing to draw', () => {
    const { cells } = results
    expect([...scalingCharts({ ...results, cells: cells.slice(1, 3), fanOut: [], workers: [] }).keys()]).toEqual([])
  })
})
