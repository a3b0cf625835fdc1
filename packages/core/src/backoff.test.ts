import { describe, expect, it } from 'vitest'
import { backoffSeconds } from './backoff.js'

describe('the pause after failures in a row', () => {
  it.each<[failures: number, random: number, seconds: number]>([
    [1, 1, 2],
    [1, 0, 1],
    [1, 0.5, 1.5],
    [2, 1, 4],
    [3, 1, 8],
    [4, 1, 10],
    [4, 0, 5],
    [1000, 1, 10],
    [1e9, 0, 5],
  ])('%d, with a jitter of %d, is %d s', (failures, random, seconds) => {
    expect(backoffSeconds(failures, { firstSeconds: 2, longestSeconds: 10, random: () => random })).toBe(seconds)
  })

  it('is never longer than the longest, also the first', () => {
    expect(backoffSeconds(1, { firstSeconds: 20, longestSeconds: 10, random: () => 1 })).toBe(10)
  })
})
