import type { Benchmark, Measurement, Unit } from './benchmark.js'
import { median, type Summary, summarize } from './statistics.js'

/** What came of one row, as it is written to the results file. */
export interface RowResult {
  /** `group/benchmark`. */
  readonly name: string
  readonly what: string
  readonly besideWhat: string
  readonly unit: Unit
  readonly measured: Summary
  /** `null` where there was nothing to compare with. */
  readonly beside: Summary | null
  /** How many times as costly as what it is compared with, by the medians: larger is worse, also for rates. */
  readonly ratio: number | null
  /** For a row with a tolerance: the same of each run, by the best tenths, which the rest of the machine disturbs least. */
  readonly steadyRatios: readonly number[]
  /** Targets, and facts that had to be true. */
  readonly verdicts: readonly Verdict[]
  readonly remarks: readonly string[]
}

interface Verdict {
  readonly text: string
  readonly isMet: boolean
}

/** Judges what was measured in one run or in several. */
export function judge(name: string, benchmark: Benchmark, runs: readonly [Measurement, ...Measurement[]]): RowResult {
  const { what, beside: besideWhat, targets, tolerance, shortfall } = benchmark
  const [{ unit }] = runs
  const samples = runs.flatMap((run) => run.samples)
  const others = runs.flatMap((run) => run.beside ?? [])
  const measured = summarize(samples)
  const beside = others.length === 0 ? null : summarize(others)
  const ratio = beside === null ? null : costRatio(unit, measured.median, beside.median)
  const figures = { samples, median: measured.median, ratio }
  const facts = new Map<string, boolean>()
  for (const run of runs) for (const [text, isTrue] of Object.entries(run.facts ?? {})) facts.set(text, isTrue && (facts.get(text) ?? true))
  const verdicts = [
    ...targets.map((target) => ({ text: target.text, isMet: target.isMet(figures) })),
    ...[...facts].map(([text, isMet]) => ({ text, isMet })),
  ]
  const isShort = verdicts.some(({ isMet }) => !isMet)
  const remarks = [...new Set([...runs.flatMap((run) => run.remarks ?? []), ...(isShort && shortfall ? [shortfall] : [])])]
  return {
    ...{ name, what, besideWhat, unit, measured, beside, ratio, verdicts, remarks },
    steadyRatios: tolerance === undefined ? [] : runs.flatMap(steadyRatio),
  }
}

function costRatio(unit: Unit, measured: number, beside: number): number {
  return unit === 'rate' ? beside / measured : measured / beside
}

function steadyRatio({ unit, samples, beside = [] }: Measurement): number[] {
  if (beside.length === 0) return []
  const best = unit === 'rate' ? (all: readonly number[]) => summarize(all).p90 : (all: readonly number[]) => summarize(all).p10
  return [samples.length < 5 ? costRatio(unit, median(samples), median(beside)) : costRatio(unit, best(samples), best(beside))]
}
