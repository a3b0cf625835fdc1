import type { Target } from './benchmark.js'
import { formatQuantity } from './format-quantity.js'
import { percentile } from './statistics.js'

/** No more than `factor` times what it is compared with. */
export function ratioAtMost(factor: number): Target {
  return { text: `at most ${factor} x`, isMet: ({ ratio }) => ratio !== null && ratio <= factor }
}

/** Less than what it is compared with; nothing to compare with is no failure. */
export const aheadOfThat: Target = { text: 'ahead', isMet: ({ ratio }) => ratio === null || ratio < 1 }

export function medianBelowSeconds(seconds: number): Target {
  return { text: `median under ${formatQuantity('duration', seconds)}`, isMet: ({ median }) => median < seconds }
}

export function p99BelowSeconds(seconds: number): Target {
  return { text: `p99 under ${formatQuantity('duration', seconds)}`, isMet: ({ samples }) => percentile(samples, 0.99) < seconds }
}

/** Holds for every sample. */
export function neverAboveSeconds(seconds: number): Target {
  return { text: `always at most ${formatQuantity('duration', seconds)}`, isMet: ({ samples }) => Math.max(...samples) <= seconds }
}

export function rateAtLeast(perSecond: number): Target {
  return { text: `at least ${formatQuantity('rate', perSecond)}`, isMet: ({ median }) => median >= perSecond }
}

export function bytesBelow(bytes: number): Target {
  return { text: `under ${formatQuantity('bytes', bytes)}`, isMet: ({ median }) => median < bytes }
}

export function percentBelow(percent: number): Target {
  return { text: `under ${formatQuantity('percent', percent)}`, isMet: ({ median }) => median < percent }
}
