import type { Benchmark, BenchmarkGroup } from './benchmark.js'
import { keep, rowName } from './catalogue.js'
import type { Measurer } from './measurer.js'
import { type Comparison, compare, formatComparison } from './regression-check.js'
import type { RowResult } from './row-result.js'

/** How often a row may be measured before it is called worse. */
const ATTEMPTS = 3

/** What {@link checkRows} works with. */
export interface CheckOptions {
  readonly groups: readonly BenchmarkGroup[]
  readonly record: readonly RowResult[]
  readonly measurer: Pick<Measurer, 'measure' | 'results'>
  /** Told each line of the outcome. */
  readonly print: (line: string) => void
}

/** The groups with the rows that can be compared between runs. */
export function comparable(groups: readonly BenchmarkGroup[]): readonly BenchmarkGroup[] {
  return keep(groups, (_group, { tolerance }) => tolerance !== undefined)
}

/** Measures what can be compared, compares it with the record, and measures again what comes out worse. Returns how each row stands, by name. */
export async function checkRows({ groups, record, measurer, print }: CheckOptions): Promise<ReadonlyMap<string, Comparison>> {
  const comparisons = new Map<string, Comparison>()
  let left = comparable(groups)
  for (let attempt = 1; attempt <= ATTEMPTS && left.length > 0; attempt++) {
    await measurer.measure(left)
    const present = measurer.results(left)
    print(`\nAttempt ${attempt}`)
    left = keep(left, (group, benchmark) => {
      const name = rowName(group, benchmark)
      const comparison = compareRow(benchmark, ratiosOf(record, name), ratiosOf(present, name))
      print(comparison === null ? `      ${name} cannot be compared: not recorded, or not measured` : formatComparison(name, comparison))
      if (comparison === null) return false
      comparisons.set(name, comparison)
      return comparison.isWorse
    })
  }
  return comparisons
}

function compareRow({ tolerance }: Benchmark, record: readonly number[], attempts: readonly number[]): Comparison | null {
  return tolerance === undefined ? null : compare(record, attempts, tolerance)
}

function ratiosOf(rows: readonly RowResult[], name: string): readonly number[] {
  return rows.find((row) => row.name === name)?.steadyRatios ?? []
}
