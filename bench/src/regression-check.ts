import { formatRatio } from './format-quantity.js'
import { median } from './statistics.js'

/** For work inside a process. The tolerances come from runs on a machine with ten times more to do than it could; see the test. */
export const IN_PROCESS_TOLERANCE = 1.5
/** For statements beside the same statements: two processes take turns, and who else wants the processor matters more. */
export const SERVER_TOLERANCE = 2

/** How one row stands to what was recorded of it. */
export interface Comparison {
  /** Median of the recorded runs. */
  readonly recorded: number
  readonly allowed: number
  /** The best of the attempts. */
  readonly present: number
  readonly isWorse: boolean
}

/**
 * Compares a row with its record. The noise of a shared machine comes and goes, and a regression stays: only what is worse in every attempt is
 * worse.
 *
 * @param record steady ratios of each recorded run.
 * @param attempts steady ratios of the present.
 * @returns `null` for a row that is not in the record, or has nothing beside it.
 */
export function compare(record: readonly number[], attempts: readonly number[], tolerance: number): Comparison | null {
  if (record.length === 0 || attempts.length === 0) return null
  const recorded = median(record)
  const allowed = recorded * tolerance
  const present = Math.min(...attempts)
  return { recorded, allowed, present, isWorse: present > allowed }
}

export function formatComparison(name: string, { recorded, allowed, present, isWorse }: Comparison): string {
  return `${isWorse ? 'WORSE' : 'ok   '} ${name.padEnd(34)} ${formatRatio(present)}, recorded ${formatRatio(recorded)}, allowed ${formatRatio(allowed)}`
}
