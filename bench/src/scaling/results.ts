import type { Machine } from '../machine.js'
import type { Cell, CellFigures } from './cell.js'
import type { Outcome } from './run-work.js'
import type { FanOutFigures, WorkersFigures } from './server-figures.js'

/** What came of one size of cluster. */
export type CellResult = { readonly cell: Cell } & Outcome<CellFigures>
/** What came of so many listeners, or workers, on a server. */
export type ServerResult<Figures> = { readonly count: number } & Outcome<Figures>

/** Everything that was measured in one go. */
export interface ScalingResults {
  readonly machine: Machine
  /** Of the server, such as `PostgreSQL 18.1`; `null` when there was none. */
  readonly server: string | null
  readonly cells: readonly CellResult[]
  readonly fanOut: readonly ServerResult<FanOutFigures>[]
  readonly workers: readonly ServerResult<WorkersFigures>[]
}

/** Of those, what could be measured. */
export function measured<Figures, Result extends Outcome<Figures>>(
  results: readonly Result[],
): Extract<Result, { readonly figures: Figures }>[] {
  return results.filter((result): result is Extract<Result, { readonly figures: Figures }> => 'figures' in result)
}
