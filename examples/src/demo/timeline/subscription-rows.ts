import { findGaps, lengthOf } from '../verdict.js'
import { escapeHtml, px } from './html.js'
import { drawRun } from './run-bar.js'
import { drawGrid, type TimeAxis } from './time-axis.js'
import type { TimelineInput } from './timeline-input.js'

const ROW = 20
const BAR = 15
const TOP = 6

/** The same runs by subscription: a row for each, from owner to owner, with what lies between them. */
export function drawSubscriptionRows({ runs, subscriptions }: TimelineInput, axis: TimeAxis): string {
  const bottom = TOP + subscriptions.length * ROW
  const rowOf = (subscription: string): number => TOP + subscriptions.indexOf(subscription) * ROW
  const gaps = findGaps(runs).map((gap) => {
    const x = axis.x(gap.from)
    const title = `${gap.subscription} had no owner from ${axis.label(gap.from)} to ${axis.label(gap.until)}: ${Math.round(lengthOf(gap) * 1000)} ms`
    return `<g class="gap"><title>${escapeHtml(title)}</title><rect x="${px(x)}" y="${px(rowOf(gap.subscription) + BAR / 2 - 1.5)}" width="${px(
      Math.max(axis.x(gap.until) - x, 1),
    )}" height="3"/></g>`
  })
  return [
    `<svg viewBox="0 0 ${axis.width} ${px(bottom + 22)}" role="img" aria-label="Who owned each subscription, and when nobody did">`,
    drawGrid(axis, { top: 0, bottom }),
    ...subscriptions.map(
      (name, index) => `<text class="lane row s${index}" x="0" y="${px(rowOf(name) + BAR / 2)}">${escapeHtml(name)}</text>`,
    ),
    ...gaps,
    ...runs.map((run) =>
      drawRun(run, axis, {
        y: rowOf(run.subscription),
        height: BAR,
        label: run.worker,
        shortLabel: run.worker.replace(/^\D+/, ''),
        colour: subscriptions.indexOf(run.subscription),
      }),
    ),
    '</svg>',
  ].join('\n')
}
