import type { RunSpan } from '../history.js'
import { escapeHtml, px } from './html.js'
import type { TimeAxis } from './time-axis.js'

const ENDS: Readonly<Record<NonNullable<RunSpan['end']>, string>> = {
  revoked: 'revoked: it went to another worker',
  stopping: 'ended because its worker was leaving',
  lost: 'ended because the claim was lost',
  failed: 'failed',
  killed: 'ended with its process',
}

const NARROWEST_WITH_LABEL = 26
const WIDE_ENOUGH = 54
const NARROWEST_WITH_SHORT_LABEL = 14

/** Where a bar is, and what is written on it. */
export interface BarPlace {
  readonly y: number
  readonly height: number
  readonly label: string
  /** Written where there is no room for the label. */
  readonly shortLabel?: string
  /** Number of the subscription: its colour. */
  readonly colour: number
}

/** The bar of one run, with all about it on hovering. */
export function drawRun(run: RunSpan, axis: TimeAxis, { y, height, label, shortLabel, colour }: BarPlace): string {
  const x = axis.x(run.from)
  // A run that was short can still be found.
  const width = Math.max(axis.x(run.until) - x, 1.5)
  const title = [
    `${run.subscription}, run by ${run.worker} (process ${run.pid})`,
    `fencing token ${run.token}`,
    `${axis.label(run.from)} to ${axis.label(run.until)}, ${(run.until - run.from).toFixed(2)} s`,
    `${run.events.toLocaleString('en-US')} events in ${run.batches} transactions`,
    run.end === null ? 'ran to the end' : ENDS[run.end],
  ].join('\n')
  const written = shortLabel !== undefined && width < WIDE_ENOUGH ? shortLabel : label
  const narrowest = written === shortLabel ? NARROWEST_WITH_SHORT_LABEL : NARROWEST_WITH_LABEL
  // A drawing within the drawing cuts what does not fit.
  const text =
    width < narrowest
      ? ''
      : `<svg x="${px(x)}" y="${px(y)}" width="${px(width - 3)}" height="${px(height)}"><text x="5" y="${px(height / 2)}">${escapeHtml(written)}</text></svg>`
  const rect = `<rect x="${px(x)}" y="${px(y)}" width="${px(width)}" height="${px(height)}" rx="2.5"/>`
  return `<g class="bar s${colour}"><title>${escapeHtml(title)}</title>${rect}${text}</g>`
}
