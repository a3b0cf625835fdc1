/** A stream of numbers that is the same for the same seed and name. */
export class SeededRandom {
  /** In [0, 1): for whoever takes a plain function. */
  readonly next: () => number

  /** @param name keeps the streams of one seed apart, so that what one draws does not change what another one gets. */
  constructor(seed: number, name: string) {
    let state = hash(seed, name)
    // mulberry32
    this.next = () => {
      state = (state + 0x6d2b79f5) | 0
      let mixed = Math.imul(state ^ (state >>> 15), state | 1)
      mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
      return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
    }
  }

  /** In [from, until). */
  between(from: number, until: number): number {
    return from + this.next() * (until - from)
  }

  /** Whether something of this probability happens. */
  happens(probability: number): boolean {
    return probability > 0 && this.next() < probability
  }
}

/** FNV-1a over the name, from a start that the seed decides. */
function hash(seed: number, name: string): number {
  let state = Math.imul(seed ^ 0x811c9dc5, 0x01000193)
  for (let index = 0; index < name.length; index++) state = Math.imul(state ^ name.charCodeAt(index), 0x01000193)
  return state ^ (state >>> 15)
}
