/** A chart of lines on two logarithmic axes. */
export interface Chart {
  readonly title: string
  readonly xLabel: string
  readonly yLabel: string
  /** In the order of their colours; up to six. */
  readonly series: readonly Series[]
}

/** One line. */
export interface Series {
  readonly name: string
  /** In order of x. Logarithms have no place for what is not above 0: such points are left out. */
  readonly points: readonly Point[]
  /** For what is computed, and not measured. @default false */
  readonly isDashed?: boolean
}

export interface Point {
  readonly x: number
  readonly y: number
}

const WIDTH = 760
const HEIGHT = 420
const PLOT = { left: 84, top: 52, right: 540, bottom: 356 }
const LABEL_HEIGHT = 17
const TICK_LENGTH = 5
const DOT = 3.5

// Told apart with any eyesight, against a light ground and against a dark one.
const LIGHT = ['#0b62b8', '#c2410c', '#0f766e', '#a21caf', '#4d5561', '#946200']
const DARK = ['#6cb6ff', '#ff9d66', '#4fd1c0', '#e58cf0', '#b3bcc8', '#e8c25a']

/** The chart as a picture that follows the colour scheme of whoever looks at it. @throws RangeError when there is nothing to draw, or too many lines. */
export function svgChart({ title, xLabel, yLabel, series }: Chart): string {
  if (series.length > LIGHT.length) throw new RangeError(`${series.length} lines, where there are colours for ${LIGHT.length}`)
  const drawn = series.map((one) => ({ ...one, points: one.points.filter(({ x, y }) => x > 0 && y > 0) }))
  const all = drawn.flatMap(({ points }) => points)
  if (all.length === 0) throw new RangeError(`There is nothing to draw in "${title}"`)
  const x = new LogAxis(
    all.map((point) => point.x),
    { from: PLOT.left, to: PLOT.right },
  )
  const y = new LogAxis(
    all.map((point) => point.y),
    { from: PLOT.bottom, to: PLOT.top },
  )
  const middle = { x: (PLOT.left + PLOT.right) / 2, y: (PLOT.top + PLOT.bottom) / 2 }
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" role="img" aria-label="${escapeText(title)}">`,
    `<style>${STYLE}</style>`,
    `<rect class="ground" width="${WIDTH}" height="${HEIGHT}" rx="6"/>`,
    text(title, { x: PLOT.left, y: 28, kind: 'title' }),
    ...x.decades.flatMap((value) => verticalLine(x.at(value), value)),
    ...y.decades.flatMap((value) => horizontalLine(y.at(value), value)),
    `<path class="axis" d="M${PLOT.left} ${PLOT.top}V${PLOT.bottom}H${PLOT.right}"/>`,
    text(xLabel, { x: middle.x, y: HEIGHT - 18, anchor: 'middle' }),
    `<g transform="translate(20 ${middle.y}) rotate(-90)">${text(yLabel, { x: 0, y: 0, anchor: 'middle' })}</g>`,
    ...drawn.flatMap(({ points, isDashed = false }, index) =>
      line(
        points.map((point) => ({ x: x.at(point.x), y: y.at(point.y) })),
        index,
        isDashed,
      ),
    ),
    ...labels(drawn, x, y),
    '</svg>',
    '',
  ].join('\n')
}

/** Whole powers of ten, and where values lie between them. */
class LogAxis {
  /** From the largest that is not above any value to the smallest that is not below any. */
  readonly decades: readonly number[]
  readonly #first: number
  readonly #span: number
  readonly #from: number
  readonly #length: number

  constructor(values: readonly number[], { from, to }: { readonly from: number; readonly to: number }) {
    this.#first = Math.floor(Math.log10(Math.min(...values)) + ROUNDING)
    const last = Math.max(this.#first + 1, Math.ceil(Math.log10(Math.max(...values)) - ROUNDING))
    this.#span = last - this.#first
    this.#from = from
    this.#length = to - from
    this.decades = Array.from({ length: this.#span + 1 }, (_, index) => 10 ** (this.#first + index))
  }

  at(value: number): number {
    return round(this.#from + ((Math.log10(value) - this.#first) / this.#span) * this.#length)
  }
}

// The logarithm of a power of ten may be a hair off.
const ROUNDING = 1e-9

function verticalLine(at: number, value: number): string[] {
  return [
    `<path class="grid" d="M${at} ${PLOT.top}V${PLOT.bottom + TICK_LENGTH}"/>`,
    text(formatTick(value), { x: at, y: PLOT.bottom + 20, anchor: 'middle' }),
  ]
}

function horizontalLine(at: number, value: number): string[] {
  return [
    `<path class="grid" d="M${PLOT.left - TICK_LENGTH} ${at}H${PLOT.right}"/>`,
    text(formatTick(value), { x: PLOT.left - 10, y: at + 4, anchor: 'end' }),
  ]
}

function line(points: readonly Point[], index: number, isDashed: boolean): string[] {
  if (points.length === 0) return []
  const path = points.map(({ x, y }, number) => `${number === 0 ? 'M' : 'L'}${x} ${y}`).join('')
  return [
    `<path class="line c${index}${isDashed ? ' dashed' : ''}" d="${path}"/>`,
    ...(isDashed ? [] : points.map(({ x, y }) => `<circle class="dot c${index}" cx="${x}" cy="${y}" r="${DOT}"/>`)),
  ]
}

/** The name of each line beside its end, moved apart where ends meet. */
function labels(series: readonly Series[], x: LogAxis, y: LogAxis): string[] {
  const wanted = series
    .flatMap(({ name, points }, index) => {
      const end = points.at(-1)
      return end === undefined ? [] : [{ name, index, x: x.at(end.x), end: y.at(end.y), y: y.at(end.y) }]
    })
    .sort((one, other) => one.end - other.end)
  for (const [index, label] of wanted.entries()) {
    label.y = Math.max(label.end, (wanted[index - 1]?.y ?? Number.NEGATIVE_INFINITY) + LABEL_HEIGHT)
  }
  const excess = (wanted.at(-1)?.y ?? 0) - PLOT.bottom
  if (excess > 0) {
    let limit = PLOT.bottom
    for (const label of wanted.toReversed()) {
      label.y = Math.min(label.y, limit)
      limit = label.y - LABEL_HEIGHT
    }
  }
  return wanted.flatMap(({ name, index, x: from, end, y: at }) => [
    `<path class="lead c${index}" d="M${from + 6} ${end}L${PLOT.right + 14} ${round(at)}"/>`,
    text(name, { x: PLOT.right + 18, y: round(at) + 4, kind: `name c${index}` }),
  ])
}

interface TextPlace extends Point {
  readonly anchor?: 'middle' | 'end'
  readonly kind?: string
}

function text(content: string, { x, y, anchor, kind }: TextPlace): string {
  const attributes = [...(anchor ? [`text-anchor="${anchor}"`] : []), ...(kind ? [`class="${kind}"`] : [])]
  return `<text ${[`x="${x}" y="${y}"`, ...attributes].join(' ')}>${escapeText(content)}</text>`
}

function formatTick(value: number): string {
  return value >= 1 ? Math.round(value).toLocaleString('en-US') : String(Number(value.toPrecision(3)))
}

function round(value: number): number {
  return Number(value.toFixed(1))
}

function escapeText(content: string): string {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}

function colours(scheme: readonly string[]): string {
  return scheme
    .map((colour, index) => `.c${index}{stroke:${colour}}circle.c${index}{fill:${colour}}text.c${index}{fill:${colour};stroke:none}`)
    .join('')
}

const STYLE = [
  'text{font:13px system-ui,sans-serif;fill:#1f2328}',
  'text.title{font-size:15px;font-weight:600}',
  'path{fill:none}',
  '.ground{fill:#ffffff}.grid{stroke:#d8dee4}.axis{stroke:#57606a}',
  '.line{stroke-width:2}.dashed{stroke-dasharray:6 4}.lead{stroke-width:1;stroke-opacity:0.5}',
  colours(LIGHT),
  '@media (prefers-color-scheme:dark){',
  'text{fill:#e6edf3}',
  '.ground{fill:#0d1117}.grid{stroke:#30363d}.axis{stroke:#8b949e}',
  colours(DARK),
  '}',
].join('')
