import { px } from './html.js'

/** From times to places. All drawings of a page share one. */
export interface TimeAxis {
  /** Left end of the time. */
  readonly left: number
  readonly right: number
  readonly width: number
  /** Seconds of the whole. */
  readonly seconds: number
  x(at: number): number
  /** Seconds since the beginning, as they are shown. */
  label(at: number): string
}

const WIDTH = 1400
const LEFT = 132
const RIGHT = 14
const TICK_SECONDS = 5

export function timeAxis(startedAt: number, endedAt: number): TimeAxis {
  const seconds = Math.max(endedAt - startedAt, 1)
  const span = WIDTH - LEFT - RIGHT
  return {
    ...{ left: LEFT, right: WIDTH - RIGHT, width: WIDTH, seconds },
    x: (at) => LEFT + (Math.min(Math.max(at - startedAt, 0), seconds) / seconds) * span,
    label: (at) => `${(at - startedAt).toFixed(2)} s`,
  }
}

/** Lines every few seconds from `top` to `bottom`, with numbers below. */
export function drawGrid(axis: TimeAxis, { top, bottom }: { readonly top: number; readonly bottom: number }): string {
  const ticks = Array.from({ length: Math.floor(axis.seconds) + 1 }, (_, second) => second)
  return ticks
    .map((second) => {
      const x = px(axis.left + (second / axis.seconds) * (axis.right - axis.left))
      const isNumbered = second % TICK_SECONDS === 0
      const line = `<line class="${isNumbered ? 'tick' : 'minor'}" x1="${x}" x2="${x}" y1="${px(top)}" y2="${px(bottom)}"/>`
      return isNumbered ? `${line}<text class="axis" x="${x}" y="${px(bottom + 15)}">${second} s</text>` : line
    })
    .join('')
}
