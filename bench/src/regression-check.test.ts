import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { CATALOGUE, rowName } from './catalogue.js'
import { compare, formatComparison } from './regression-check.js'

/** Steady ratios of five whole runs, on two cores with 17 to 29 processes that wanted them. */
const noise: Readonly<Record<string, readonly number[]>> = JSON.parse(
  readFileSync(new URL('../fixtures/noise.json', import.meta.url), 'utf8'),
)
const tolerances = new Map(
  CATALOGUE.flatMap((group) =>
    group.benchmarks.flatMap((one) => (one.tolerance === undefined ? [] : [[rowName(group, one), one.tolerance]])),
  ),
)

/** Every choice of three. */
function triples(values: readonly number[]): number[][] {
  return values.flatMap((one, first) =>
    values.slice(first + 1).flatMap((two, second) => values.slice(first + second + 2).map((three) => [one, two, three])),
  )
}

const isWorse = (record: readonly number[], attempts: readonly number[], tolerance: number): boolean | undefined =>
  compare(record, attempts, tolerance)?.isWorse

it('has noise of every row that is compared', () => {
  expect(Object.keys(noise).sort()).toEqual([...tolerances.keys()].sort())
})

describe.each(Object.entries(noise))('%s', (name, runs) => {
  const tolerance = tolerances.get(name) ?? Number.NaN

  it('is not tripped by noise, whichever runs are the record and whichever the present', () => {
    for (const record of triples(runs)) {
      for (const attempts of triples(runs)) expect(isWorse(record, attempts, tolerance), `${attempts} beside ${record}`).toBe(false)
    }
  })

  it('is tripped when it costs more than noise explains, in the midst of the same noise', () => {
    const quiet = [...runs].sort((one, other) => one - other).slice(0, 3)
    for (const attempts of triples(runs)) {
      const slower = attempts.map((ratio) => ratio * tolerance * 1.5)
      expect(isWorse(quiet, slower, tolerance), `${slower} beside ${quiet}`).toBe(true)
    }
  })
})

describe('a comparison', () => {
  it('believes the best of the attempts', () => {
    expect(compare([1, 1, 1], [9, 1.4, 9], 1.5)).toEqual({ recorded: 1, allowed: 1.5, present: 1.4, isWorse: false })
    expect(isWorse([1, 1, 1], [9, 1.6, 9], 1.5)).toBe(true)
  })

  it('cannot be made without a record, or with nothing measured', () => {
    expect(compare([], [1], 1.5)).toBeNull()
    expect(compare([1], [], 1.5)).toBeNull()
  })

  it('reads as one line', () => {
    expect(formatComparison('elector/renew', { recorded: 2, allowed: 4, present: 4.5, isWorse: true })).toBe(
      'WORSE elector/renew                      4.50 x, recorded 2.00 x, allowed 4.00 x',
    )
  })
})
