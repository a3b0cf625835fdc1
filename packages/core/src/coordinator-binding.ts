import { type CoordinationMessage, MessageDecoder } from './decoder.js'
import { HeartbeatMessage } from './heartbeat-message.js'
import { consoleLogger, type Logger } from './logger.js'
import { ShutdownNotification } from './shutdown-notification.js'
import { HEARTBEAT_TOPIC, SHUTDOWN_NOTIFICATIONS_TOPIC, WORK_ASSIGNMENT_TOPIC } from './topics.js'
import type { Transport, Unsubscribe } from './transport.js'
import type { WorkAssignment } from './work-assignment.js'
import type { WorkRedistributionCoordinator } from './work-redistribution-coordinator.js'

/** What else to do with the messages of a {@link bindCoordinator}. None of these may throw. */
export interface CoordinatorBindingOptions {
  /** @default consoleLogger */
  readonly logger?: Logger
  /** Called for every heartbeat that can be read, one of this instance included, before the coordinator has it. */
  readonly onHeartbeat?: (heartbeat: HeartbeatMessage) => void
  /** Called for every assignment that can be read, whoever it is for, before the coordinator has it. */
  readonly onWorkAssignment?: (assignment: WorkAssignment) => void
}

/** A coordinator on a transport. */
export interface CoordinatorBinding {
  /** Counts of the messages that could not be read. */
  readonly decoder: MessageDecoder
  /**
   * Sends a message of this instance on the topic of its kind.
   *
   * @throws what `Transport.publish` throws.
   */
  publish(message: CoordinationMessage): Promise<void>
  /** Stops listening. Idempotent. */
  unbind(): void
}

/**
 * Connects a coordinator with a transport: each of the three topics with its handler. Messages that cannot be read are counted, logged
 * once a kind and dropped; the coordinator itself ignores those of its own instance. Resolves when messages arrive.
 *
 * @throws what `Transport.subscribe` throws; nothing stays subscribed then.
 */
export async function bindCoordinator(
  coordinator: WorkRedistributionCoordinator,
  transport: Transport,
  { logger = consoleLogger, onHeartbeat, onWorkAssignment }: CoordinatorBindingOptions = {},
): Promise<CoordinatorBinding> {
  const decoder = new MessageDecoder({ logger })
  const subscriptions: Unsubscribe[] = []
  const unbind = (): void => {
    for (const unsubscribe of subscriptions.splice(0)) unsubscribe()
  }
  try {
    subscriptions.push(
      await transport.subscribe(HEARTBEAT_TOPIC, (message) => {
        const heartbeat = decoder.decode(HEARTBEAT_TOPIC, message)
        if (heartbeat === null) return
        onHeartbeat?.(heartbeat)
        void coordinator.handleHeartbeat(heartbeat)
      }),
    )
    subscriptions.push(
      await transport.subscribe(SHUTDOWN_NOTIFICATIONS_TOPIC, (message) => {
        const notification = decoder.decode(SHUTDOWN_NOTIFICATIONS_TOPIC, message)
        if (notification !== null) void coordinator.handlePeerShutdown(notification)
      }),
    )
    subscriptions.push(
      await transport.subscribe(WORK_ASSIGNMENT_TOPIC, (message) => {
        const assignment = decoder.decode(WORK_ASSIGNMENT_TOPIC, message)
        if (assignment === null) return
        onWorkAssignment?.(assignment)
        void coordinator.handleWorkAssignment(assignment)
      }),
    )
  } catch (error) {
    unbind()
    throw error
  }
  return {
    decoder,
    unbind,
    publish: (message) => transport.publish(topicOf(message), { ...message.toDict() }),
  }
}

function topicOf(message: CoordinationMessage): string {
  if (message instanceof HeartbeatMessage) return HEARTBEAT_TOPIC
  return message instanceof ShutdownNotification ? SHUTDOWN_NOTIFICATIONS_TOPIC : WORK_ASSIGNMENT_TOPIC
}
