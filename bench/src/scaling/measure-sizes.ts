import { startTestServer } from '@es/test-server'
import { describeMachine } from '../machine.js'
import { Observer } from '../observer.js'
import { cellName } from './cell.js'
import type { CellResult, ScalingResults, ServerResult } from './results.js'
import { type Outcome, runWork } from './run-work.js'
import type { FanOutFigures, WorkersFigures } from './server-figures.js'
import type { Sizes } from './sizes.js'

const CELL_LIMIT_SECONDS = 1800
const SERVER_LIMIT_SECONDS = 240
/** The connections of the largest crowd, and some spare. */
const SPARE_CONNECTIONS = 20

/** How {@link measureSizes} goes about it. */
export interface MeasureSizesOptions {
  readonly signal: AbortSignal
  /** Told what is being measured, and how it went. */
  readonly print: (line: string) => void
}

/** Measures everything, one after the other. What cannot be measured is in the results with the reason. @throws the signal's reason when it aborts. */
export async function measureSizes({ cells, listeners, workers }: Sizes, { signal, print }: MeasureSizesOptions): Promise<ScalingResults> {
  const machine = describeMachine()
  const done = <Figures>(what: string, outcome: Outcome<Figures>): Outcome<Figures> => {
    print('reason' in outcome ? `NOT   ${what}: ${outcome.reason}` : `ok    ${what}`)
    return outcome
  }
  const simulated: CellResult[] = []
  for (const cell of cells) {
    simulated.push({ cell, ...done(cellName(cell), await runWork('cell', cell, { limitSeconds: CELL_LIMIT_SECONDS, signal })) })
  }
  const fanOut: ServerResult<FanOutFigures>[] = []
  const together: ServerResult<WorkersFigures>[] = []
  let server: string | null = null
  if (listeners.length + workers.length > 0) {
    const connections = Math.max(...listeners, ...workers.map((count) => 2 * count)) + SPARE_CONNECTIONS
    await using running = await startTestServer({ settings: { max_connections: connections } })
    server = await describeServer(running.url)
    const limits = { limitSeconds: SERVER_LIMIT_SECONDS, signal }
    for (const count of listeners) {
      const outcome = await runWork('fan-out', { databaseUrl: running.url, count }, limits)
      fanOut.push({ count, ...done(`${count} listeners on a server`, outcome) })
    }
    for (const count of workers) {
      const outcome = await runWork('workers', { databaseUrl: running.url, count }, limits)
      together.push({ count, ...done(`${count} workers on a server`, outcome) })
    }
  }
  return { machine: machine(), server, cells: simulated, fanOut, workers: together }
}

async function describeServer(url: string): Promise<string> {
  await using observer = new Observer(url)
  const [row] = await observer.query<{ version: string }>(`SELECT current_setting('server_version') AS version`)
  return `PostgreSQL ${row?.version.split(' ')[0]}`
}
