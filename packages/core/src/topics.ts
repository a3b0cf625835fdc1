/** Common prefix of all coordination topics, to filter, grant or route them together. Same value as the reference library. */
export const COORDINATION_TOPIC_PREFIX = '__eventsource_coordination'
/** Carries `HeartbeatMessage`: from every instance, on an interval. */
export const HEARTBEAT_TOPIC = `${COORDINATION_TOPIC_PREFIX}.heartbeat`
/** Carries `ShutdownNotification`: from a departing instance, once. */
export const SHUTDOWN_NOTIFICATIONS_TOPIC = `${COORDINATION_TOPIC_PREFIX}.shutdown`
/** Carries `WorkAssignment`: from the leader. Broadcast like the others; whoever is not the target ignores it. */
export const WORK_ASSIGNMENT_TOPIC = `${COORDINATION_TOPIC_PREFIX}.work_assignment`
