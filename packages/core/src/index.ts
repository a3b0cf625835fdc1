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
  requireLeaderElector,
  type TryAcquireOptions,
} from './leader-elector.js'
export { Leadership, type LeadershipOptions } from './leadership.js'

// The wire
export { HeartbeatMessage, type HeartbeatDict, type HeartbeatMessageProps } from './heartbeat-message.js'
export { ShutdownNotification, type ShutdownDict, type ShutdownNotificationProps } from './shutdown-notification.js'
export { WorkAssignment, type WorkAssignmentDict, type WorkAssignmentProps } from './work-assignment.js'
export {
  type CoordinationMessage,
  type DecodeFault,
  type DroppedMessages,
  MAX_MESSAGE_TEXT_LENGTH,
  MessageDecoder,
  type MessageDecoderOptions,
} from './decoder.js'
export { formatInstant, parseInstant } from './instant.js'
export { type JsonObject, type JsonValue, MAX_METADATA_DEPTH, MAX_METADATA_SIZE } from './json-value.js'
export { MAX_EPOCH, MAX_SUBSCRIPTIONS } from './message-schema.js'
export { ShutdownIntent } from './shutdown-intent.js'
export { COORDINATION_TOPIC_PREFIX, HEARTBEAT_TOPIC, SHUTDOWN_NOTIFICATIONS_TOPIC, WORK_ASSIGNMENT_TOPIC } from './topics.js'

// Coordinator
export {
  type HeartbeatCallback,
  type PeerShutdownCallback,
  type PeerStatusChangeCallback,
  type PeerTimeoutCallback,
  WorkRedistributionCoordinator,
  type WorkAssignmentCallback,
} from './work-redistribution-coordinator.js'
export type { WorkRedistributionCoordinatorOptions } from './coordinator-options.js'
export type { CreateHeartbeatOptions, CreateShutdownNotificationOptions } from './own-messages.js'
export type { PeerInfo, PeerStatus, PeerStatusChange } from './peer-info.js'

// Building blocks for adapters
export { type Callback, CallbackList } from './callback-list.js'
export { callSafely } from './call-safely.js'
export { type BoundedCallOptions, boundedCall, type CallLimit } from './bounded-call.js'
export { type BackoffOptions, backoffSeconds } from './backoff.js'
export { FailureLog, type FailureLogOptions } from './failure-log.js'
export {
  type Bounds,
  describeValue,
  invalidOption,
  MAX_NAME_LENGTH,
  requireClock,
  requireFunction,
  requireInteger,
  requireLogger,
  requireMethods,
  requireName,
  requireOptions,
  requireOrder,
  requireSeconds,
} from './options.js'

// Transport and ownership
export type { Transport, TransportHandler, Unsubscribe } from './transport.js'
export type { Claim, ClaimHolder, ClaimOutcome, DeniedClaim, Ownership } from './ownership.js'
export { bindCoordinator, type CoordinatorBinding, type CoordinatorBindingOptions } from './coordinator-binding.js'

// Planning
export type {
  AssignmentPlan,
  AssignmentPlanner,
  AssignmentPlannerInput,
  MoveReason,
  PinnedSubscription,
  PlannedInstance,
  PlannedMove,
  PlannedSubscription,
  UnassignedReason,
  UnassignedSubscription,
} from './assignment-planner.js'
export { stickyPlanner } from './assignment-planner-sticky.js'
export { nextSubscriptionStep, type SubscriptionFacts, type SubscriptionStep } from './subscription-step.js'
export { type AssignmentStamp, EPOCH_FORGOTTEN_AFTER_TIMEOUTS, isOlderAssignment } from './assignment-order.js'
export { isSameList } from './same-list.js'
