/** A source of numbers that are the same for the same seed (mulberry32). */
export interface SeededRandom {
  /** In [0, 1). */
  next(): number
  /** Whether something of this probability happens. */
  happens(probability: number): boolean
  /** One of `items`; `undefined` when there are none. */
  pick<T>(items: readonly T[]): T | undefined
}

export function seededRandom(seed: number): SeededRandom {
  let state = seed | 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  return {
    next,
    happens: (probability) => next() < probability,
    pick: (items) => items[Math.floor(next() * items.length)],
  }
}
