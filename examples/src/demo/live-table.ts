import type { Member } from './crew.js'

/** A worker as the table shows it. */
export type Row = Pick<Member, 'state' | 'isLeader' | 'holds'> & { readonly process: { readonly worker: string } }

/** What the table shows at one moment. */
export interface Frame {
  readonly crew: {
    readonly members: readonly Row[]
    ownerOf(subscription: string): Row | null
    positionOf(subscription: string): number
  }
  readonly subscriptions: readonly string[]
  readonly workers: readonly string[]
  /** Position of the last event; 0 while the log grows. */
  readonly logEnd: number
  readonly seconds: number
}

const COLUMN = 12

/** The lines of the table, without colours: a row for each subscription, a column for each worker. */
export function renderTable({ crew, subscriptions, workers, logEnd, seconds }: Frame): string[] {
  const first = Math.max(...subscriptions.map((name) => name.length))
  const line = (head: string, cells: readonly string[], tail = ''): string =>
    `  ${head.padEnd(first)}  ${cells.map((cell) => cell.padEnd(COLUMN)).join('')}${tail}`.trimEnd()
  const members = workers.map((worker) => crew.members.find(({ process }) => process.worker === worker))
  return [
    '',
    line('', workers, 'position'),
    line('', members.map(stateOf)),
    ...subscriptions.map((subscription) => {
      const owner = crew.ownerOf(subscription)?.process.worker
      const token = crew.ownerOf(subscription)?.holds[subscription]
      const cells = workers.map((worker) => (worker === owner ? `■ ${token ?? ''}` : '·'))
      return line(subscription, cells, crew.positionOf(subscription).toLocaleString('en-US'))
    }),
    '',
    `  ${seconds.toFixed(1)} s${logEnd > 0 ? `, the log ends at ${logEnd.toLocaleString('en-US')}` : ''}`,
  ]
}

function stateOf(member: Row | undefined): string {
  if (!member) return ''
  return member.isLeader ? 'LEADS' : member.state
}
