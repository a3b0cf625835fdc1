import { formatQuantity } from '../format-quantity.js'
import { formatMachine } from '../machine.js'
import { markdownTable } from '../markdown-table.js'
import type { Cell, CellFigures, StableFigures } from './cell.js'
import { type CellResult, measured, type ScalingResults, type ServerResult } from './results.js'
import type { Outcome } from './run-work.js'
import { coresFor, DEFAULT_HEARTBEAT_SECONDS, instancesFor, type ServerCost, serverCost } from './server-cost.js'
import type { FanOutFigures, WorkersFigures } from './server-figures.js'

const HEARTBEAT_INTERVALS = [DEFAULT_HEARTBEAT_SECONDS, 15, 30]
const WORKERS_HEADER = [
  'instances',
  'subscriptions',
  'connections',
  'statements',
  'processor of the server',
  'computed',
  'processor of an instance',
]
const CORES = [0.1, 0.5, 1]

/** Everything that was measured, as Markdown: one table for each question. */
export function scalingTables(results: ScalingResults): string {
  const { machine, server, cells, fanOut, workers } = results
  const all = cells.filter(({ cell }) => cell.hearing === 'all')
  const narrow = cells.filter(({ cell }) => cell.hearing === 'leader')
  const figures = {
    fanOut: measured<FanOutFigures, ServerResult<FanOutFigures>>(fanOut),
    workers: measured<WorkersFigures, ServerResult<WorkersFigures>>(workers),
  }
  const cost = serverCost(
    figures.fanOut.map((one) => one.figures),
    figures.workers.map((one) => one.figures),
  )
  return [
    `${formatMachine(machine)}${server === null ? '' : ` ${server}.`}`,
    ...section('Where it starts to hurt', turningPoints(all, cost, figures.fanOut.at(-1)?.figures)),
    ...section('What the cluster says while nothing changes', trafficTable(all)),
    ...section('Processor time of an instance', costTable(all)),
    ...section('Until the assignment is stable', stableTable(all)),
    ...(narrow.length > 0 ? section('With heartbeats to the leader alone', narrowTable(narrow, all)) : []),
    ...(fanOut.length > 0 ? section('What a notification costs a server', fanOutTable(fanOut)) : []),
    ...(workers.length > 0 ? section('What real workers cost a server', workersTable(workers, cost)) : []),
    ...(cost === null ? [] : section('How many instances a server bears', limitsTable(cost))),
  ].join('\n')
}

/** The figures that decide, in sentences. */
function turningPoints(results: readonly CellResult[], cost: ServerCost | null, crowded: FanOutFigures | undefined): string[] {
  const cells = measured<CellFigures, CellResult>(results)
  const lines: string[] = []
  if (cost !== null) {
    const [tenth, whole] = [0.1, 1].map((cores) => count(instancesFor(cores, cost)))
    const [hundred, thousand] = [100, 1000].map((instances) => formatQuantity('count', coresFor(instances, cost)))
    lines.push(
      `- **The server.** At the defaults a cluster at rest takes a tenth of a core of this server with ${tenth} instances, and a whole one with ${whole}. A hundred take ${hundred} cores, and a thousand would take ${thousand}.`,
    )
  }
  if (crowded !== undefined) {
    const wakeShare = formatQuantity('percent', (crowded.serverSecondsWoken / crowded.serverSecondsHeard) * 100)
    lines.push(
      `- **A notification** wakes up every session that listens in the database, to whatever channel: one that does not hear it costs the server ${wakeShare} of what one that does.`,
    )
  }
  const crowd = most(cells, ({ cell, figures }) => figures.steady.delivered / cell.instances)
  if (crowd !== undefined) {
    const { cell, figures } = crowd
    lines.push(
      `- **A follower** takes in ${formatQuantity('count', figures.steady.delivered / cell.instances)} messages a second in a cluster of ${count(cell.instances)}: ${share(figures.follower.cpuSeconds)} of a core, without the driver.`,
    )
  }
  const busiest = most(cells, ({ figures }) => figures.leader.cpuSeconds)
  if (busiest !== undefined) {
    const { cell, figures } = busiest
    lines.push(
      `- **The leader** plans for all, twice a second: ${share(figures.leader.cpuSeconds)} of a core with ${count(cell.instances)} instances and ${count(cell.subscriptions)} subscriptions.`,
    )
  }
  return lines
}

function most<Item>(items: readonly Item[], of: (item: Item) => number): Item | undefined {
  return items.toSorted((one, other) => of(other) - of(one))[0]
}

function section(title: string, lines: readonly string[]): string[] {
  return ['', `### ${title}`, '', ...lines]
}

function table(header: readonly string[], rows: readonly (readonly string[])[]): string[] {
  return markdownTable(header, rows).split('\n')
}

/** A row for each size; what could not be measured is below, with the reason. */
function cellTable(
  results: readonly CellResult[],
  columns: readonly string[],
  cellsOf: (figures: CellFigures, cell: Cell) => readonly string[],
): string[] {
  const rows = results.map((result) => [
    ...[count(result.cell.instances), count(result.cell.subscriptions)],
    ...('figures' in result ? cellsOf(result.figures, result.cell) : columns.map(() => '-')),
  ])
  return [
    ...table(['instances', 'subscriptions', ...columns], rows),
    ...reasons(results, ({ cell }) => `${count(cell.instances)} x ${count(cell.subscriptions)}`),
  ]
}

/** Why some could not be measured: one line for each reason. */
function reasons<Result extends Outcome<unknown>>(results: readonly Result[], nameOf: (result: Result) => string): string[] {
  const names = new Map<string, string[]>()
  for (const result of results) if ('reason' in result) names.set(result.reason, [...(names.get(result.reason) ?? []), nameOf(result)])
  return names.size === 0 ? [] : ['', ...[...names].map(([reason, which]) => `Not measured: ${which.join(', ')}. ${reason}.`)]
}

function trafficTable(results: readonly CellResult[]): string[] {
  return cellTable(results, ['messages published', 'messages delivered', 'bytes published', 'bytes delivered'], ({ steady }) => [
    formatQuantity('rate', steady.published),
    formatQuantity('rate', steady.delivered),
    bytesRate(steady.publishedBytes),
    bytesRate(steady.deliveredBytes),
  ])
}

function costTable(results: readonly CellResult[]): string[] {
  return cellTable(results, ['a follower', 'the leader'], ({ follower, leader }) => [share(follower.cpuSeconds), share(leader.cpuSeconds)])
}

function stableTable(results: readonly CellResult[]): string[] {
  const changes: readonly (keyof StableFigures)[] = ['start', 'join', 'leave', 'crash']
  return cellTable(results, ['after the start of all', 'after a join', 'after a leave', 'after a crash'], ({ stable }) =>
    changes.map((change) => stableAfter(stable[change])),
  )
}

function stableAfter(seconds: number | null): string {
  return seconds === null ? 'not while watched' : seconds === 0 ? 'nothing to move' : formatQuantity('duration', seconds)
}

function narrowTable(narrow: readonly CellResult[], all: readonly CellResult[]): string[] {
  const columns = ['messages delivered', 'to all instead', 'processor, a follower', 'to all instead', 'after a join', 'after a crash']
  return cellTable(narrow, columns, ({ steady, stable, follower }, { instances, subscriptions }) => {
    const beside = all.find(({ cell }) => cell.instances === instances && cell.subscriptions === subscriptions)
    const other = beside !== undefined && 'figures' in beside ? beside.figures : null
    return [
      formatQuantity('rate', steady.delivered),
      other === null ? '-' : formatQuantity('rate', other.steady.delivered),
      share(follower.cpuSeconds),
      other === null ? '-' : share(other.follower.cpuSeconds),
      ...[stable.join, stable.crash].map(stableAfter),
    ]
  })
}

function fanOutTable(results: readonly ServerResult<FanOutFigures>[]): string[] {
  const rows = results.map((result) => [
    count(result.count),
    ...('figures' in result
      ? [result.figures.serverSecondsHeard, result.figures.serverSecondsWoken, result.figures.clientSecondsHeard].map((seconds) =>
          formatQuantity('duration', seconds),
        )
      : ['-', '-', '-']),
  ])
  const header = ['listeners', 'server, for each that hears it', 'server, for each that only wakes up', 'client that hears it']
  return [...table(header, rows), ...reasons(results, (result) => count(result.count))]
}

function workersTable(results: readonly ServerResult<WorkersFigures>[], cost: ServerCost | null): string[] {
  const rows = results.map((result) => {
    if ('reason' in result) return [count(result.count), ...WORKERS_HEADER.slice(1).map(() => '-')]
    const { instances, subscriptions, connections, statements, serverSeconds, clientSeconds } = result.figures
    return [
      ...[count(instances), count(subscriptions), count(connections), formatQuantity('rate', statements)],
      share(serverSeconds),
      cost === null ? '-' : share(coresFor(instances, cost)),
      share(clientSeconds / instances),
    ]
  })
  return [...table(WORKERS_HEADER, rows), ...reasons(results, (result) => count(result.count))]
}

function limitsTable(cost: ServerCost): string[] {
  return [
    `Computed from the costs above, with ${formatQuantity('duration', cost.instanceSeconds)} of the server for an instance and second beside its notifications.`,
    '',
    ...table(
      [
        '`heartbeatIntervalSeconds`',
        ...CORES.map((cores) => `instances for ${cores === 1 ? 'a core' : `${cores} cores`}`),
        'cores for 100',
        'cores for 1,000',
      ],
      HEARTBEAT_INTERVALS.map((seconds) => [
        String(seconds),
        ...CORES.map((cores) => count(instancesFor(cores, cost, seconds))),
        ...[100, 1000].map((instances) => formatQuantity('count', coresFor(instances, cost, seconds))),
      ]),
    ),
  ]
}

function count(value: number): string {
  return value.toLocaleString('en-US')
}

function bytesRate(bytes: number): string {
  return bytes >= 2 ** 20 ? `${formatQuantity('count', bytes / 2 ** 20)} MiB/s` : `${formatQuantity('bytes', bytes)}/s`
}

/** Of one core. */
function share(cpuSeconds: number): string {
  return formatQuantity('percent', cpuSeconds * 100)
}
