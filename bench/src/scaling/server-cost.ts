import { median } from '../statistics.js'
import type { FanOutFigures, WorkersFigures } from './server-figures.js'

/** How often an instance sends what wakes up every listener in its database, in seconds: heartbeats, and the transport's look at its own connection. */
export interface NotificationIntervals {
  readonly heartbeatSeconds: number
  readonly healthCheckSeconds: number
}

export const DEFAULT_INTERVALS: NotificationIntervals = { heartbeatSeconds: 5, healthCheckSeconds: 5 }

/** What a server spends on a cluster in which nothing changes; seconds are of processor time. */
export interface ServerCost {
  /** For each pair of instances, when one of them is heard by the other. */
  readonly heardSeconds: number
  /** The same when the other one is only woken up. */
  readonly wokenSeconds: number
  /** For each instance and second: locks, looks and renewals. */
  readonly instanceSeconds: number
}

/** The cost of one notification by the largest crowd of listeners, and what is left of real clusters when that is taken away. `null` without either. */
export function serverCost(fanOut: readonly FanOutFigures[], workers: readonly WorkersFigures[]): ServerCost | null {
  const crowd = fanOut.at(-1)
  if (crowd === undefined || workers.length === 0) return null
  const notifications = { heardSeconds: crowd.serverSecondsHeard, wokenSeconds: crowd.serverSecondsWoken, instanceSeconds: 0 }
  const rest = workers.map(({ instances, serverSeconds }) => (serverSeconds - coresFor(instances, notifications)) / instances)
  return { ...notifications, instanceSeconds: Math.max(0, median(rest)) }
}

/** Cores of the server that `instances` keep busy. */
export function coresFor(
  instances: number,
  { heardSeconds, wokenSeconds, instanceSeconds }: ServerCost,
  { heartbeatSeconds, healthCheckSeconds }: NotificationIntervals = DEFAULT_INTERVALS,
): number {
  const eachPair = heardSeconds / heartbeatSeconds + wokenSeconds / healthCheckSeconds
  return instances ** 2 * eachPair + instances * instanceSeconds
}

/** The most instances that keep no more than `cores` of the server busy. */
export function instancesFor(cores: number, cost: ServerCost, intervals: NotificationIntervals = DEFAULT_INTERVALS): number {
  const pairs = coresFor(1, { ...cost, instanceSeconds: 0 }, intervals)
  const { instanceSeconds } = cost
  return Math.floor((Math.sqrt(instanceSeconds ** 2 + 4 * pairs * cores) - instanceSeconds) / (2 * pairs))
}
