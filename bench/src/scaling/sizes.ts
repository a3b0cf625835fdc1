import type { Cell } from './cell.js'
import type { ScalingCommandLine } from './scaling-command-line.js'

/** What is measured. */
export interface Sizes {
  readonly cells: readonly Cell[]
  /** Listening connections on a server. */
  readonly listeners: readonly number[]
  /** Real workers on a server. */
  readonly workers: readonly number[]
}

// A cluster of a thousand takes minutes, and with fewer subscriptions most of it would have nothing to run.
const CLUSTERS = [
  { instances: 10, subscriptions: [10, 100, 1000, 10_000, 100_000] },
  { instances: 100, subscriptions: [10, 100, 1000, 10_000, 100_000] },
  { instances: 1000, subscriptions: [1000, 10_000, 100_000] },
] as const
/** With so many subscriptions, clusters of all sizes are compared. */
export const COMPARED_SUBSCRIPTIONS = 1000

const ALL: Sizes = {
  cells: [
    ...CLUSTERS.flatMap(({ instances, subscriptions }) =>
      subscriptions.map((count): Cell => ({ instances, subscriptions: count, hearing: 'all' })),
    ),
    ...CLUSTERS.map(({ instances }): Cell => ({ instances, subscriptions: COMPARED_SUBSCRIPTIONS, hearing: 'leader' })),
  ],
  listeners: [10, 50, 200, 500],
  workers: [10, 50, 100],
}

/** What the command asks for. */
export function selectSizes({ largest, mostSubscriptions, isSimulatedOnly }: ScalingCommandLine): Sizes {
  const fits = (count: number): boolean => !isSimulatedOnly && count <= largest
  return {
    cells: ALL.cells.filter(({ instances, subscriptions }) => instances <= largest && subscriptions <= mostSubscriptions),
    listeners: ALL.listeners.filter(fits),
    workers: ALL.workers.filter(fits),
  }
}
