import type { Cell, CellFigures } from './cell.js'
import type { FanOutFigures, WorkersFigures } from './server-figures.js'

/** What can be measured in a process of its own. */
export interface ScalingWork {
  readonly cell: { readonly command: Cell; readonly figures: CellFigures }
  readonly 'fan-out': { readonly command: ServerCommand; readonly figures: FanOutFigures }
  readonly workers: { readonly command: ServerCommand; readonly figures: WorkersFigures }
}

export type ScalingKind = keyof ScalingWork

/** How many listeners, or instances, on which server. */
interface ServerCommand {
  readonly databaseUrl: string
  readonly count: number
}

/** What the process is told. */
export type ScalingCommand = { readonly [Kind in ScalingKind]: { readonly kind: Kind } & ScalingWork[Kind]['command'] }[ScalingKind]

/** What the process tells, once. */
export type ScalingReport =
  | { readonly type: 'measured'; readonly figures: ScalingWork[ScalingKind]['figures'] }
  | { readonly type: 'failed'; readonly reason: string }
