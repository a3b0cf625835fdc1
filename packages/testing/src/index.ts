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

// Simulated clusters
export {
  formatSimulation,
  simulate,
  type SimulationFigures,
  type SimulationOptions,
  type SimulationResult,
} from './simulator/simulate.js'
export { ExplorationFailure, type ExplorationFigures, type ExplorationOptions, explore } from './simulator/explore.js'
export { type FaultFamily, type ScenarioChoices, scenarios } from './simulator/scenario-arbitrary.js'
export {
  DEFAULT_TIMINGS,
  recoverySeconds,
  ROLES,
  type Scenario,
  type ScenarioStep,
  type ScenarioTimings,
  type StepKind,
  type Who,
} from './simulator/scenario.js'
export type {
  CreateBackend,
  CreateInstance,
  PeerBelief,
  SimulatedAdapters,
  SimulatedBackend,
  SimulatedInstance,
  SimulatedPlace,
  Surroundings,
} from './simulator/surroundings.js'
export { lockServerBackend, type LockServerAdapters, type LockServerBackendOptions } from './simulator/lock-server-backend.js'
export type { LockServerSession } from './simulator/lock-server.js'
export type { LockCheck } from './simulator/lock-connection.js'
export type { NetworkDelivery, SimulatedNetwork } from './simulator/simulated-network.js'
export type { BackendFault, Wire } from './simulator/wire.js'
export type { Misbehaviour, SimulatedRunContext } from './simulator/workload.js'
export { formatTranscript, type TranscriptLine } from './simulator/transcript.js'
export type { StepCount } from './simulator/step-runner.js'

// Time
export { ManualClock, type ManualClockOptions } from './manual-clock.js'
export { type Truthy, type UntilOptions, until } from './poll.js'

// Faults
export { FaultProxy, type FaultProxyCounts, type FaultProxyTarget } from './fault-proxy.js'
export type { Direction } from './proxied-connection.js'
