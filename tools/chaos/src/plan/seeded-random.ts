/** Numbers in [0, 1), the same for the same seed. */
export type Random = () => number

/** A small generator (mulberry32): good enough to choose faults, and the same on every machine. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

export function between(random: Random, from: number, to: number): number {
  return from + random() * (to - from)
}

export function pick<T>(random: Random, items: readonly T[]): T {
  if (items.length === 0) throw new RangeError('There is nothing to pick from')
  return items[Math.floor(random() * items.length)] as T
}

export function shuffled<T>(random: Random, items: readonly T[]): T[] {
  const rest = [...items]
  const result: T[] = []
  while (rest.length > 0) result.push(...rest.splice(Math.floor(random() * rest.length), 1))
  return result
}
