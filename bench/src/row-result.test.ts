import { describe, expect, it } from 'vitest'
import type { Benchmark, Measurement } from './benchmark.js'
import { judge } from './row-result.js'
import { aheadOfThat, medianBelowSeconds, neverAboveSeconds, p99BelowSeconds, rateAtLeast, ratioAtMost } from './targets.js'

const never = async (): Promise<Measurement> => {
  throw new Error('Nobody runs it')
}
const benchmark = (fields: Partial<Benchmark>): Benchmark => ({ name: 'b', what: 'w', beside: 'x', targets: [], run: never, ...fields })
const seconds = (samples: readonly number[], beside?: readonly number[]): Measurement => ({
  unit: 'duration',
  samples,
  ...(beside && { beside }),
})
const verdictsOf = (targets: Benchmark['targets'], measurement: Measurement): boolean[] =>
  judge('g/b', benchmark({ targets }), [measurement]).verdicts.map(({ isMet }) => isMet)

describe('a row', () => {
  it('says how costly something is beside something else, by the medians, for durations and for rates', () => {
    expect(judge('g/b', benchmark({}), [seconds([1, 3, 9], [2, 2, 2])]).ratio).toBe(1.5)
    expect(judge('g/b', benchmark({}), [{ unit: 'rate', samples: [100], beside: [300] }]).ratio).toBe(3)
    expect(judge('g/b', benchmark({}), [seconds([1])])).toMatchObject({ ratio: null, beside: null })
  })

  it('meets each of its targets or not', () => {
    const targets = [ratioAtMost(1.5), medianBelowSeconds(3.1), p99BelowSeconds(4.1), neverAboveSeconds(4), aheadOfThat]
    expect(verdictsOf(targets, seconds([2, 3, 4], [2, 2, 2]))).toEqual([true, true, true, true, false])
    expect(verdictsOf(targets, seconds([3.2, 3.3, 5], [2, 2, 2]))).toEqual([false, false, false, false, false])
    expect(verdictsOf(targets, seconds([1, 1, 1], [2, 2, 2]))).toEqual([true, true, true, true, true])
    expect(verdictsOf([rateAtLeast(100)], { unit: 'rate', samples: [99] })).toEqual([false])
  })

  it('that has nothing beside it misses a ratio, and is not behind', () => {
    expect(verdictsOf([ratioAtMost(1.5), aheadOfThat], seconds([1]))).toEqual([false, true])
  })

  it('fails with a fact that was not true in every run', () => {
    const runs = [true, false].map((isTrue): Measurement => ({ ...seconds([1]), facts: { 'never two leaders': isTrue } }))
    const [one, other] = runs as [Measurement, Measurement]
    expect(judge('g/b', benchmark({}), [one]).verdicts).toEqual([{ text: 'never two leaders', isMet: true }])
    expect(judge('g/b', benchmark({}), [one, other]).verdicts).toEqual([{ text: 'never two leaders', isMet: false }])
    expect(judge('g/b', benchmark({}), [other, one]).verdicts).toEqual([{ text: 'never two leaders', isMet: false }])
  })

  it('gives the reason for a shortfall only while it falls short', () => {
    const row = benchmark({ targets: [medianBelowSeconds(1)], shortfall: 'Because.' })
    expect(judge('g/b', row, [seconds([2])]).remarks).toEqual(['Because.'])
    expect(judge('g/b', row, [seconds([0.5])]).remarks).toEqual([])
  })

  it('with a tolerance has a ratio of each run, by the samples that were disturbed least', () => {
    const disturbed = seconds([1, 1, 1, 50, 60, 70, 80, 90, 90, 90], [2, 2, 2, 2, 2, 2, 2, 2, 2, 2])
    expect(judge('g/b', benchmark({ tolerance: 2 }), [disturbed, seconds([3], [2])]).steadyRatios).toEqual([0.5, 1.5])
    const rates: Measurement = { unit: 'rate', samples: [1, 1, 1, 1, 100], beside: [200, 200, 200, 200, 200] }
    expect(judge('g/b', benchmark({ tolerance: 2 }), [rates]).steadyRatios).toEqual([expect.closeTo(200 / 60.4)])
    expect(judge('g/b', benchmark({}), [disturbed]).steadyRatios).toEqual([])
  })
})
