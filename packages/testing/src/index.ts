// Conformance suite for authors of leader electors
export {
  type ConformanceRunner,
  type LeaderElectorCase,
  leaderElectorCases,
  leaderElectorConformance,
} from './elector-conformance/leader-elector-conformance.js'
export type {
  LeaderElectorElection,
  LeaderElectorPower,
  LeaderElectorPowers,
  LeaderElectorWorld,
} from './elector-conformance/leader-elector-world.js'

// Time
export { ManualClock, type ManualClockOptions } from './manual-clock.js'
export { type Truthy, type UntilOptions, until } from './poll.js'

// Faults
export { FaultProxy, type FaultProxyCounts, type FaultProxyTarget } from './fault-proxy.js'
export type { Direction } from './proxied-connection.js'
