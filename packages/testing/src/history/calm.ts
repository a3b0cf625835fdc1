import { firstEndingAfter, type Span } from './spell.js'

/** A time within which nothing was done to the cluster: it lies between two changes or faults. */
interface CalmSpan extends Span {
  /** Whether no instance was there that could own or lead. */
  readonly isDeserted: boolean
  /** Whether a fault that befell everybody lasted. */
  readonly isOutage: boolean
}

/** How long something was missing within a gap. */
export interface GapLength {
  /** The longest time while an instance was there. */
  readonly missing: Span
  /** The longest time after a change or fault, until the next one: what the cluster took to recover. */
  readonly recovery: Span
}

/** When the cluster was left in peace. */
export class Calm {
  readonly #spans: CalmSpan[] = []
  #from: number
  #isDeserted = true
  #isOutage = false

  constructor(from: number) {
    this.#from = from
  }

  /** Notes a change or fault, and how things are from then on. */
  disturb(at: number, { isDeserted, isOutage }: { readonly isDeserted: boolean; readonly isOutage: boolean }): void {
    if (at > this.#from) this.#spans.push({ from: this.#from, until: at, isDeserted: this.#isDeserted, isOutage: this.#isOutage })
    this.#from = Math.max(this.#from, at)
    this.#isDeserted = isDeserted
    this.#isOutage = isOutage
  }

  /** Measures a gap. Costs what happened within it. */
  measure(gap: Span): GapLength {
    let missing: Span = { from: gap.from, until: gap.from }
    let recovery = missing
    let since: number | null = null
    for (let index = firstEndingAfter(this.#spans, gap.from); index < this.#spans.length; index++) {
      const span = this.#spans[index] as CalmSpan
      if (span.from >= gap.until) break
      const from = Math.max(span.from, gap.from)
      const until = Math.min(span.until, gap.until)
      since = span.isDeserted ? null : (since ?? from)
      if (since !== null) missing = longer(missing, { from: since, until })
      if (!span.isDeserted && !span.isOutage) recovery = longer(recovery, { from, until })
    }
    return { missing, recovery }
  }
}

/** The longer of two spans; the first of two that are equally long. */
function longer(one: Span, other: Span): Span {
  return lengthOf(other) > lengthOf(one) ? other : one
}

export function lengthOf({ from, until }: Span): number {
  return until - from
}
