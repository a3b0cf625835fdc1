import { describe, expect, it } from 'vitest'
import { median, percentile, summarize } from './statistics.js'

describe('a percentile', () => {
  it('is interpolated between the two nearest samples, in whatever order they come', () => {
    const samples = [40, 10, 30, 20]
    expect([0, 0.25, 0.5, 1].map((share) => percentile(samples, share))).toEqual([10, 17.5, 25, 40])
    expect(samples).toEqual([40, 10, 30, 20])
  })

  it('of one sample is that sample, and of none is not a number', () => {
    expect(percentile([7], 0.99)).toBe(7)
    expect(percentile([], 0.5)).toBeNaN()
  })
})

it('a median does not move with one sample that is far off', () => {
  expect(median([1, 2, 3, 4, 5])).toBe(3)
  expect(median([1, 2, 3, 4, 5_000_000])).toBe(3)
})

it('a summary leaves out a tenth on either side', () => {
  expect(summarize(Array.from({ length: 101 }, (_, index) => index))).toEqual({ median: 50, p10: 10, p90: 90, count: 101 })
})
