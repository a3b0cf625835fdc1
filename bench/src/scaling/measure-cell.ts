import type { Cell, CellFigures } from './cell.js'
import { replay } from './replay.js'
import { simulateCluster, subscriptionNames, WARM_UP_SECONDS, WINDOW_SECONDS } from './simulate-cluster.js'

/** Measures one size of cluster. @throws Error when there can be none of that size. */
export async function measureCell(cell: Cell): Promise<CellFigures> {
  const { steady, stable, traffic } = await simulateCluster(cell)
  const again = {
    traffic,
    subscriptions: subscriptionNames(cell.subscriptions),
    warmUpSeconds: WARM_UP_SECONDS,
    windowSeconds: WINDOW_SECONDS,
  }
  return { steady, stable, follower: await replay('follower', again), leader: await replay('leader', again) }
}
