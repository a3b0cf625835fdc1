/** A measured value made fit to be sent, and what was wrong with it if anything was. */
export interface Sample {
  readonly value: number
  readonly fault: 'not_a_number' | 'below_range' | 'above_range' | 'fractional' | null
}

/** A load factor: clamped to 0..1; what is not a number counts as 0, "not stated". A bad sample must not silence a live instance (M5). */
export function sampleFraction(value: unknown): Sample {
  if (typeof value !== 'number' || Number.isNaN(value)) return { value: 0, fault: 'not_a_number' }
  if (value < 0) return { value: 0, fault: 'below_range' }
  if (value > 1) return { value: 1, fault: 'above_range' }
  return { value, fault: null }
}

/** A number of things: clamped to the safe integers from 0, cut to a whole one; what is not a number counts as 0. */
export function sampleCount(value: unknown): Sample {
  if (typeof value !== 'number' || Number.isNaN(value)) return { value: 0, fault: 'not_a_number' }
  if (value < 0) return { value: 0, fault: 'below_range' }
  if (value > Number.MAX_SAFE_INTEGER) return { value: Number.MAX_SAFE_INTEGER, fault: 'above_range' }
  return Number.isInteger(value) ? { value, fault: null } : { value: Math.floor(value), fault: 'fractional' }
}
