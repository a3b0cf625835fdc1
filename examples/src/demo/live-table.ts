import type { Term } from './term-log.js'

/** A worker as the table shows it. */
export interface Row {
  readonly process: { readonly worker: string; readonly pid: number }
  readonly state: string
  readonly seesLeader: string | null
}

/** What the live table shows at one moment. */
export interface Frame {
  readonly members: readonly Row[]
  readonly terms: readonly Term[]
  readonly position: number
  readonly events: number
  readonly seconds: number
}

// Padded to the width of what usually stands below, so that the columns stay where they are.
const COLUMNS = ['worker  ', 'process', 'state   ', 'token   ', 'batches', 'events', 'sees as leader'] as const
const BAR_WIDTH = 40

/** The lines of the table, without colours; the leader's begins with an arrow. */
export function renderTable({ members, terms, position, events, seconds }: Frame): string[] {
  const rows = members.map(({ process, state, seesLeader }) => {
    const term = state === 'leading' ? terms.findLast(({ pid }) => pid === process.pid) : undefined
    const own = terms.filter(({ worker }) => worker === process.worker)
    const sum = (count: (term: Term) => number): string => own.reduce((total, each) => total + count(each), 0).toLocaleString('en-US')
    return [
      process.worker,
      String(process.pid),
      state,
      term ? String(term.token) : '',
      sum(({ batches }) => batches),
      sum((each) => each.events),
      state === 'killed' || state === 'ended' ? '' : (seesLeader ?? '-'),
    ]
  })
  const widths = COLUMNS.map((name, column) => Math.max(name.length, ...rows.map((row) => row[column]?.length ?? 0)))
  const line = (mark: string, cells: readonly string[]): string =>
    `${mark} ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('   ')}`.trimEnd()
  const isLeading = (index: number): boolean => members[index]?.state === 'leading'
  return [
    '',
    line(' ', COLUMNS),
    ...rows.map((row, index) => line(isLeading(index) ? '>' : ' ', row)),
    '',
    `  ${bar(position, events)} ${position.toLocaleString('en-US')} of ${events.toLocaleString('en-US')} events   ${seconds.toFixed(1)} s`,
  ]
}

function bar(done: number, total: number): string {
  const filled = Math.round((done / total) * BAR_WIDTH)
  return `[${'#'.repeat(filled)}${'.'.repeat(BAR_WIDTH - filled)}]`
}
