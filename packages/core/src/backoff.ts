/** How long to wait between attempts that fail. */
export interface BackoffOptions {
  /** Wait after the first failure, in seconds; doubled after each further one. */
  readonly firstSeconds: number
  /** Longest wait, in seconds: also the longest time by which a recovered backend goes unnoticed. */
  readonly longestSeconds: number
  /** Source of jitter in [0, 1); candidates that fail together must not retry together. */
  readonly random: () => number
}

/**
 * Seconds to wait after `failures` failures in a row (1 or more): exponential, capped, and spread over the upper half of
 * its range, so that it is never shorter than half of what the cap allows.
 */
export function backoffSeconds(failures: number, { firstSeconds, longestSeconds, random }: BackoffOptions): number {
  const full = Math.min(longestSeconds, firstSeconds * 2 ** Math.min(failures - 1, 52))
  return full * (0.5 + random() / 2)
}
