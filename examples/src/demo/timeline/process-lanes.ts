import type { RunSpan, TermSpan } from '../history.js'
import type { Mark, Phase } from '../scene.js'
import { escapeHtml, px } from './html.js'
import { drawRun } from './run-bar.js'
import { drawGrid, type TimeAxis } from './time-axis.js'
import type { TimelineInput } from './timeline-input.js'

const STRIP_TOP = 6
const STRIP_HEIGHT = 24
const LEADER_TOP = 44
const LEADER_HEIGHT = 18
const LANES_TOP = 78
const SLOT = 15
const BAR = 13
const LANE_PADDING = 14
const LANE_GAP = 8
const BADGE = 6.5
const CHARACTER_WIDTH = 6.1

const BADGES: Readonly<
  Record<Exclude<Mark['kind'], 'database'>, { readonly letter: string; readonly title: string; readonly shift: number } | null>
> = {
  started: { letter: '▸', title: 'starts', shift: BADGE + 1 },
  killed: { letter: '✕', title: 'SIGKILL', shift: 0 },
  paused: { letter: 'Ⅱ', title: 'SIGSTOP', shift: 0 },
  woken: { letter: '▸', title: 'SIGCONT', shift: 0 },
  terminated: { letter: '■', title: 'SIGTERM', shift: -BADGE - 1 },
  ended: null,
}

/** The main drawing: a strip of phases, a line of who led, and a lane for each process with a bar for each subscription that it ran. */
export function drawProcessLanes(input: TimelineInput, axis: TimeAxis): string {
  const { workers, runs, terms, phases, marks } = input
  const lanes = placeLanes(workers, runs)
  const bottom = (lanes.at(-1)?.bottom ?? LANES_TOP) + 4
  return [
    `<svg viewBox="0 0 ${axis.width} ${px(bottom + 22)}" role="img" aria-label="Which process ran which subscription, and when">`,
    '<defs><pattern id="hatch" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><line class="hatch" x1="0" x2="0" y1="0" y2="7"/></pattern></defs>',
    ...phases.map((phase, index) => drawPhase(phase, { nr: index + 1, bottom, axis })),
    ...lanes.map((lane) => drawLane(lane, input, axis)),
    drawGrid(axis, { top: LEADER_TOP - 8, bottom }),
    drawOutages(input, { bottom, axis }),
    `<text class="lane" x="0" y="${LEADER_TOP + LEADER_HEIGHT / 2}">leader</text>`,
    ...terms.map((term) => drawTerm(term, axis)),
    ...lanes.flatMap(({ slots }) =>
      slots.map(({ run, y }) =>
        drawRun(run, axis, { y, height: BAR, label: run.subscription, colour: input.subscriptions.indexOf(run.subscription) }),
      ),
    ),
    ...lanes.map((lane) => drawMarks(lane, marks, axis)),
    '</svg>',
  ].join('\n')
}

interface Lane {
  readonly worker: string
  readonly top: number
  readonly bottom: number
  readonly slots: readonly { readonly run: RunSpan; readonly y: number }[]
}

function placeLanes(workers: readonly string[], runs: readonly RunSpan[]): Lane[] {
  let top = LANES_TOP
  return workers.map((worker) => {
    const placed = stack(runs.filter((run) => run.worker === worker))
    const rows = Math.max(1, ...placed.map(({ row }) => row + 1))
    const lane = {
      worker,
      top,
      bottom: top + 2 * LANE_PADDING + rows * SLOT - (SLOT - BAR),
      slots: placed.map(({ run, row }) => ({ run, y: top + LANE_PADDING + row * SLOT })),
    }
    top = lane.bottom + LANE_GAP
    return lane
  })
}

/** Puts each run into the row in which its subscription was before, if that is free, and otherwise into the first that is. */
function stack(runs: readonly RunSpan[]): readonly { readonly run: RunSpan; readonly row: number }[] {
  const busyUntil: number[] = []
  const rowBefore = new Map<string, number>()
  return runs.map((run) => {
    const before = rowBefore.get(run.subscription)
    const isFree = (row: number): boolean => (busyUntil[row] ?? run.from) <= run.from
    let row = before !== undefined && isFree(before) ? before : 0
    while (!isFree(row)) row++
    busyUntil[row] = run.until
    rowBefore.set(run.subscription, row)
    return { run, row }
  })
}

function drawPhase(
  { title, from, until }: Phase,
  { nr, bottom, axis }: { readonly nr: number; readonly bottom: number; readonly axis: TimeAxis },
): string {
  const x = axis.x(from)
  const width = axis.x(until) - x
  const text = title.length * CHARACTER_WIDTH + 26 < width ? title : ''
  const y = STRIP_TOP + STRIP_HEIGHT / 2
  return [
    `<g class="phase"><title>${escapeHtml(`${nr}. ${title}\n${axis.label(from)} to ${axis.label(until)}`)}</title>`,
    `<rect class="${nr % 2 === 0 ? 'even' : 'odd'}" x="${px(x)}" y="${STRIP_TOP}" width="${px(width)}" height="${px(bottom - STRIP_TOP)}"/>`,
    `<rect class="head" x="${px(x + 1)}" y="${STRIP_TOP}" width="${px(Math.max(width - 2, 1))}" height="${STRIP_HEIGHT}" rx="4"/>`,
    width > 18 ? `<text class="nr" x="${px(x + 8)}" y="${y}">${nr}</text>` : '',
    text ? `<text x="${px(x + 21)}" y="${y}">${escapeHtml(text)}</text>` : '',
    '</g>',
  ].join('')
}

function drawTerm({ worker, pid, token, from, until }: TermSpan, axis: TimeAxis): string {
  const x = axis.x(from)
  const width = Math.max(axis.x(until) - x, 2)
  const title = `${worker} (process ${pid}) led\ntoken ${token}\n${axis.label(from)} to ${axis.label(until)}`
  const text = worker.length * CHARACTER_WIDTH + 10 < width ? worker : width > 16 ? worker.replace(/\D+/, '') : ''
  return `<g class="term"><title>${escapeHtml(title)}</title><rect x="${px(x)}" y="${LEADER_TOP}" width="${px(width)}" height="${LEADER_HEIGHT}" rx="3"/><text x="${px(
    x + 6,
  )}" y="${LEADER_TOP + LEADER_HEIGHT / 2}">${escapeHtml(text)}</text></g>`
}

/** The ground of a lane: from each start of the process to its end. */
function drawLane({ worker, top, bottom }: Lane, { marks, endedAt }: TimelineInput, axis: TimeAxis): string {
  const own = marks.filter((mark) => mark.worker === worker)
  const lives = own
    .filter(({ kind }) => kind === 'started')
    .map(({ at }) => ({
      from: at,
      until: own.find(({ kind, at: end }) => (kind === 'ended' || kind === 'killed') && end > at)?.at ?? endedAt,
    }))
  const ground = lives.map(
    ({ from, until }) =>
      `<rect class="life" x="${px(axis.x(from))}" y="${px(top)}" width="${px(axis.x(until) - axis.x(from))}" height="${px(bottom - top)}" rx="4"><title>${worker} is there from ${axis.label(from)} to ${axis.label(until)}</title></rect>`,
  )
  return `<text class="lane" x="0" y="${px((top + bottom) / 2)}">${escapeHtml(worker)}</text>${ground.join('')}`
}

function drawMarks({ worker, top, bottom }: Lane, marks: readonly Mark[], axis: TimeAxis): string {
  const own = marks.filter((mark) => mark.worker === worker)
  return own
    .map(({ kind, at, until }) => {
      const badge = kind === 'database' ? null : BADGES[kind]
      if (!badge) return ''
      const x = axis.x(at)
      const title = `<title>${escapeHtml(`${badge.title} for ${worker} at ${axis.label(at)}${until === undefined ? '' : `, until ${axis.label(until)}`}`)}</title>`
      const standstill =
        until === undefined
          ? ''
          : `<rect class="standstill" x="${px(x)}" y="${px(top)}" width="${px(axis.x(until) - x)}" height="${px(bottom - top)}"/><text class="note" x="${px(
              (x + axis.x(until)) / 2,
            )}" y="${px((top + bottom) / 2)}">stopped ${(until - at).toFixed(1)} s</text>`
      return `<g class="mark ${kind}">${title}${standstill}<line x1="${px(x)}" x2="${px(x)}" y1="${px(top)}" y2="${px(bottom)}"/><circle cx="${px(
        x + badge.shift,
      )}" cy="${px(top)}" r="${BADGE}"/><text x="${px(x + badge.shift)}" y="${px(top)}">${badge.letter}</text></g>`
    })
    .join('\n')
}

/** The database was away, and after that so young that nothing could be claimed. */
function drawOutages(
  { marks, leaseSeconds }: TimelineInput,
  { bottom, axis }: { readonly bottom: number; readonly axis: TimeAxis },
): string {
  const band = (className: string, from: number, until: number, title: string): string =>
    `<rect class="${className}" x="${px(axis.x(from))}" y="${LEADER_TOP - 8}" width="${px(axis.x(until) - axis.x(from))}" height="${px(bottom - LEADER_TOP + 8)}"><title>${escapeHtml(title)}</title></rect>`
  return marks
    .filter(({ kind }) => kind === 'database')
    .map(({ at, until = at }) => {
      const away = band('outage', at, until, `The database is away from ${axis.label(at)} to ${axis.label(until)}`)
      const young = band(
        'young',
        until,
        until + leaseSeconds,
        `The server is younger than a lease of ${leaseSeconds} s: a holder that it forgot may not know yet, so nothing is claimed`,
      )
      return away + young
    })
    .join('')
}
