/** Positions from one to another, both included. */
export interface PositionRange {
  readonly first: number
  readonly last: number
}

/** Positions that were passed over, and the write that did. */
export interface MissingRange extends PositionRange {
  readonly skippedBy: number
}

/** What one write did to the order of things; empty where it was in order. */
export interface PositionFaults {
  /** Written before. */
  readonly repeated: PositionRange | null
  /** Written after larger ones. */
  readonly late: PositionRange | null
}

const IN_ORDER: PositionFaults = { repeated: null, late: null }

/** Which positions of one subscription were written. */
export class PositionLedger {
  /** In order and apart; all below `next`. */
  #missing: MissingRange[] = []
  #next: number

  constructor(firstPosition: number) {
    this.#next = firstPosition
  }

  /** The position that is due. */
  get next(): number {
    return this.#next
  }

  /** Positions that were passed over and never written. */
  get missing(): readonly MissingRange[] {
    return this.#missing
  }

  /** Forgets that the positions which the latest write passed over are missing. */
  forgive(): void {
    this.#missing.pop()
  }

  /** Whether writing from `first` on passes something over. */
  skips(first: number): number {
    return Math.max(0, first - this.#next)
  }

  /** Notes that `range` was written by the write `index`. */
  write({ first, last }: PositionRange, index: number): PositionFaults {
    const next = this.#next
    if (first > next) this.#missing.push({ first: next, last: first - 1, skippedBy: index })
    this.#next = Math.max(next, last + 1)
    if (first >= next) return IN_ORDER
    return this.#writeAgain({ first, last: Math.min(last, next - 1) })
  }

  /** Notes a range that lies below `next`. */
  #writeAgain({ first, last }: PositionRange): PositionFaults {
    const from = this.#firstMissingEndingAt(first)
    const kept: MissingRange[] = []
    let filled = 0
    let lateFirst: number | null = null
    let lateLast = first
    let end = from
    for (let range = this.#missing[end]; range !== undefined && range.first <= last; range = this.#missing[++end]) {
      const common = { first: Math.max(first, range.first), last: Math.min(last, range.last) }
      filled += common.last - common.first + 1
      lateFirst ??= common.first
      lateLast = common.last
      if (range.first < common.first) kept.push({ ...range, last: common.first - 1 })
      if (range.last > common.last) kept.push({ ...range, first: common.last + 1 })
    }
    if (end > from) this.#missing.splice(from, end - from, ...kept)
    const late = lateFirst === null ? null : { first: lateFirst, last: lateLast }
    return { late, repeated: filled < last - first + 1 ? { first, last } : null }
  }

  /** Index of the first missing range that ends at `position` or after. */
  #firstMissingEndingAt(position: number): number {
    let low = 0
    let high = this.#missing.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#missing[middle] as MissingRange).last >= position) high = middle
      else low = middle + 1
    }
    return low
  }
}

/** For a message. */
export function formatPositions({ first, last }: PositionRange): string {
  return first === last ? `position ${first}` : `positions ${first} to ${last}`
}
