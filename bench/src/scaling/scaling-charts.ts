import type { CellFigures } from './cell.js'
import { type CellResult, measured, type ScalingResults, type ServerResult } from './results.js'
import { coresFor, serverCost } from './server-cost.js'
import type { FanOutFigures, WorkersFigures } from './server-figures.js'
import { COMPARED_SUBSCRIPTIONS } from './sizes.js'
import type { Chart, Point, Series } from './svg-chart.js'

type Measured = CellResult & { readonly figures: CellFigures }

const COMPUTED_INSTANCES = [10, 20, 50, 100, 200, 500, 1000]

/** The charts that can be drawn of `results`, by the name of their file. */
export function scalingCharts(results: ScalingResults): ReadonlyMap<string, Chart> {
  const cells = measured<CellFigures, CellResult>(results.cells)
  const charts: readonly (readonly [string, Chart])[] = [
    ['scaling-messages.svg', messages(cells)],
    ['scaling-bytes.svg', bytes(cells)],
    ['scaling-processor.svg', processor(cells)],
    ['scaling-stable.svg', stable(cells)],
    ['scaling-server.svg', server(results)],
  ]
  return new Map(charts.filter(([, { series }]) => series.some(({ points }) => points.length > 0)))
}

function messages(cells: readonly Measured[]): Chart {
  const compared = cells.filter(({ cell }) => cell.subscriptions === COMPARED_SUBSCRIPTIONS)
  const all = compared.filter(({ cell }) => cell.hearing === 'all')
  const narrow = compared.filter(({ cell }) => cell.hearing === 'leader')
  return {
    title: `Messages of a cluster at rest, with ${count(COMPARED_SUBSCRIPTIONS)} subscriptions`,
    xLabel: 'instances',
    yLabel: 'messages a second',
    series: [
      { name: 'delivered', points: byInstances(all, ({ steady }) => steady.delivered) },
      { name: 'delivered, to leader alone', points: byInstances(narrow, ({ steady }) => steady.delivered) },
      { name: 'published', points: byInstances(all, ({ steady }) => steady.published) },
    ],
  }
}

function bytes(cells: readonly Measured[]): Chart {
  return {
    title: 'Bytes that reach one instance of a cluster at rest',
    xLabel: 'instances',
    yLabel: 'bytes a second',
    series: groups(cells, ({ cell }) => cell.subscriptions).map(([subscriptions, group]) => ({
      name: `${count(subscriptions)} subscriptions`,
      points: group.map(({ cell, figures }) => ({ x: cell.instances, y: figures.steady.deliveredBytes / cell.instances })),
    })),
  }
}

function processor(cells: readonly Measured[]): Chart {
  const lines = (who: 'leader' | 'follower'): Series[] =>
    groups(cells, ({ cell }) => cell.instances).map(([instances, group]) => ({
      name: `${who}, ${count(instances)} instances`,
      points: group.map(({ cell, figures }) => ({ x: cell.subscriptions, y: figures[who].cpuSeconds * 1000 })),
    }))
  return {
    title: 'Processor time of one instance of a cluster at rest',
    xLabel: 'subscriptions',
    yLabel: 'milliseconds for each second',
    series: [...lines('leader'), ...lines('follower')],
  }
}

function stable(cells: readonly Measured[]): Chart {
  const compared = cells.filter(({ cell }) => cell.subscriptions === COMPARED_SUBSCRIPTIONS && cell.hearing === 'all')
  return {
    title: `Until the assignment is stable, with ${count(COMPARED_SUBSCRIPTIONS)} subscriptions`,
    xLabel: 'instances',
    yLabel: 'seconds',
    series: (['join', 'crash', 'leave'] as const).map((change) => ({
      name: `after a ${change}`,
      points: byInstances(compared, (figures) => figures.stable[change] ?? 0),
    })),
  }
}

function server({ fanOut, workers }: ScalingResults): Chart {
  const real = measured<WorkersFigures, ServerResult<WorkersFigures>>(workers).map(({ figures }) => figures)
  const cost = serverCost(
    measured<FanOutFigures, ServerResult<FanOutFigures>>(fanOut).map(({ figures }) => figures),
    real,
  )
  return {
    title: 'Cores of a server that a cluster at rest keeps busy',
    xLabel: 'instances',
    yLabel: 'cores',
    series: [
      { name: 'real workers', points: real.map(({ instances, serverSeconds }) => ({ x: instances, y: serverSeconds })) },
      { name: 'computed', isDashed: true, points: cost === null ? [] : COMPUTED_INSTANCES.map((x) => ({ x, y: coresFor(x, cost) })) },
    ],
  }
}

function byInstances(cells: readonly Measured[], of: (figures: CellFigures) => number): Point[] {
  return cells.map(({ cell, figures }) => ({ x: cell.instances, y: of(figures) }))
}

function groups(cells: readonly Measured[], by: (cell: Measured) => number): [number, Measured[]][] {
  const found = new Map<number, Measured[]>()
  for (const cell of cells.filter((one) => one.cell.hearing === 'all')) found.set(by(cell), [...(found.get(by(cell)) ?? []), cell])
  return [...found]
}

function count(value: number): string {
  return value.toLocaleString('en-US')
}
