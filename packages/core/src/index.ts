// Errors
export { ConnectionError, CoordinationError, errorMessage, InvalidMessageError, MAX_REPORTED_ISSUES, type MessageIssue } from './errors.js'

// Time and logging
export { type CancelTimer, type Clock, systemClock } from './clock.js'
export { consoleLogger, type LogFields, type Logger, safeLogger } from './logger.js'
export { sleep } from './sleep.js'

// Leader election
export {
  type CampaigningLeaderElector,
  type FencedLeaderElector,
  isLeaderElector,
  type LeaderChangeCallback,
  type LeaderElector,
  missingLeaderElectorMembers,
  type TryAcquireOptions,
} from './leader-elector.js'
export { Leadership, type LeadershipOptions } from './leadership.js'

// The wire
export { ShutdownIntent } from './shutdown-intent.js'
export { COORDINATION_TOPIC_PREFIX, HEARTBEAT_TOPIC, SHUTDOWN_NOTIFICATIONS_TOPIC, WORK_ASSIGNMENT_TOPIC } from './topics.js'
