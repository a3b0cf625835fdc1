// Conformance suites for authors of adapters
export type { ConformanceCase, ConformanceRunner } from './conformance/conformance-suite.js'
export type { ConformanceWorld } from './conformance/conformance-world.js'

// Of leader electors
export {
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

// Of transports
export { type TransportCase, transportCases, transportConformance } from './transport-conformance/transport-conformance.js'
export type { TransportMedium, TransportPower, TransportPowers, TransportWorld } from './transport-conformance/transport-world.js'

// Of ownerships
export { type OwnershipCase, ownershipCases, ownershipConformance } from './ownership-conformance/ownership-conformance.js'
export type { OwnershipContest, OwnershipPower, OwnershipPowers, OwnershipWorld } from './ownership-conformance/ownership-world.js'

// Recorded histories, and what is wrong with them
export type {
  ClaimEvent,
  FaultEvent,
  HistoryEvent,
  InstanceEvent,
  LeadershipEvent,
  RunEnding,
  RunEvent,
  WriteEvent,
} from './history/history-event.js'
export {
  checkHistory,
  type HistoryFigures,
  type HistoryGapFigures,
  type HistoryReport,
  type SubscriptionFigures,
} from './history/check-history.js'
export type { HistoryBreach } from './history/breach-log.js'
export type { HistoryCheckOptions } from './history/history-options.js'
export { HISTORY_RULES, type HistoryRule } from './history/history-rules.js'
export { formatBreaches, type FormatBreachesOptions } from './history/format-breaches.js'
export { formatHistory, formatHistoryEvent, type HistoryText, parseHistory, type ParseHistoryOptions } from './history/history-json.js'
export { mergeHistories } from './history/history-order.js'

// Time
export { ManualClock, type ManualClockOptions } from './manual-clock.js'
export { type Truthy, type UntilOptions, until } from './poll.js'

// Faults
export { FaultProxy, type FaultProxyCounts, type FaultProxyTarget } from './fault-proxy.js'
export type { Direction } from './proxied-connection.js'
