import { median } from '../statistics.js'
import type { FanOutFigures, WorkersFigures } from './server-figures.js'

/** The default of `heartbeatIntervalSeconds`. */
export const DEFAULT_HEARTBEAT_SECONDS = 5

/** What a server spends on a cluster in which nothing changes; seconds are of processor time. */
export interface ServerCost {
  /** For each pair of instances, when one of them is heard by the other. */
  readonly heardSeconds: number
  /** For each instance and second: locks, looks and renewals. */
  readonly instanceSeconds: number
}

/** The cost of one notification by the largest crowd of listeners, and what is left of real clusters when that is taken away. `null` without either. */
export function serverCost(fanOut: readonly FanOutFigures[], workers: readonly WorkersFigures[]): ServerCost | null {
  const crowd = fanOut.at(-1)
  if (crowd === undefined || workers.length === 0) return null
  const notifications = { heardSeconds: crowd.serverSecondsHeard, instanceSeconds: 0 }
  const rest = workers.map(({ instances, serverSeconds }) => (serverSeconds - coresFor(instances, notifications)) / instances)
  return { ...notifications, instanceSeconds: Math.max(0, median(rest)) }
}

/** Cores of the server that `instances` keep busy. */
export function coresFor(
  instances: number,
  { heardSeconds, instanceSeconds }: ServerCost,
  heartbeatSeconds = DEFAULT_HEARTBEAT_SECONDS,
): number {
  return (instances ** 2 * heardSeconds) / heartbeatSeconds + instances * instanceSeconds
}

/** The most instances that keep no more than `cores` of the server busy. */
export function instancesFor(cores: number, cost: ServerCost, heartbeatSeconds = DEFAULT_HEARTBEAT_SECONDS): number {
  const { heardSeconds, instanceSeconds } = cost
  const pairs = heardSeconds / heartbeatSeconds
  return Math.floor((Math.sqrt(instanceSeconds ** 2 + 4 * pairs * cores) - instanceSeconds) / (2 * pairs))
}
