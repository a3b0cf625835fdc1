/** The value below which the given share (0 to 1) of `samples` lies, interpolated between the two nearest. NaN for none. */
export function percentile(samples: readonly number[], share: number): number {
  const sorted = [...samples].sort((one, other) => one - other)
  const position = share * (sorted.length - 1)
  const below = sorted[Math.floor(position)]
  const above = sorted[Math.ceil(position)]
  if (below === undefined || above === undefined) return Number.NaN
  return below + (above - below) * (position - Math.floor(position))
}

export function median(samples: readonly number[]): number {
  return percentile(samples, 0.5)
}

/** What a table shows of a series of samples. */
export interface Summary {
  readonly median: number
  readonly p10: number
  readonly p90: number
  readonly count: number
}

export function summarize(samples: readonly number[]): Summary {
  return { median: median(samples), p10: percentile(samples, 0.1), p90: percentile(samples, 0.9), count: samples.length }
}
