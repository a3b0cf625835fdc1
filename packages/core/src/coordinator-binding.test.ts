import { describe, expect, it } from 'vitest'
import { bindCoordinator } from './coordinator-binding.js'
import { HeartbeatMessage } from './heartbeat-message.js'
import { at, ManualClock, RecordingLogger } from './manual-clock.test.harness.js'
import { ShutdownNotification } from './shutdown-notification.js'
import { HEARTBEAT_TOPIC, SHUTDOWN_NOTIFICATIONS_TOPIC, WORK_ASSIGNMENT_TOPIC } from './topics.js'
import type { Transport, TransportHandler } from './transport.js'
import { WorkAssignment } from './work-assignment.js'
import { WorkRedistributionCoordinator } from './work-redistribution-coordinator.js'

/** A transport that keeps what is published, and delivers what the test says. */
class Wire implements Transport {
  readonly published: { readonly topic: string; readonly message: Readonly<Record<string, unknown>> }[] = []
  readonly handlers = new Map<string, TransportHandler>()
  refuses: string | null = null

  async publish(topic: string, message: Readonly<Record<string, unknown>>): Promise<void> {
    this.published.push({ topic, message })
  }

  async subscribe(topic: string, handler: TransportHandler): Promise<() => void> {
    if (topic === this.refuses) throw new Error('no connection')
    this.handlers.set(topic, handler)
    return () => void this.handlers.delete(topic)
  }

  onResync(): () => void {
    return () => {}
  }
}

const heartbeat = new HeartbeatMessage({ instanceId: 'b', timestamp: at(0), subscriptions: ['s'] })
const goodbye = new ShutdownNotification({
  instanceId: 'b',
  intent: 'graceful',
  initiatedAt: at(0),
  expectedCompletionAt: at(30),
  subscriptions: ['s'],
})
const assignment = new WorkAssignment({ targetInstanceId: 'me', subscriptions: ['s'], sourceInstanceId: 'b', assignedAt: at(0) })

function setUp() {
  const wire = new Wire()
  const logger = new RecordingLogger()
  const coordinator = new WorkRedistributionCoordinator({ instanceId: 'me', clock: new ManualClock(), logger })
  return { wire, logger, coordinator }
}

describe('a coordinator on a transport', () => {
  it('gets what arrives on each of the three topics', async () => {
    const { wire, logger, coordinator } = setUp()
    const assigned: WorkAssignment[] = []
    coordinator.onWorkAssignment((message) => void assigned.push(message))
    await bindCoordinator(coordinator, wire, { logger })
    wire.handlers.get(HEARTBEAT_TOPIC)?.(heartbeat.toDict())
    expect(coordinator.getPeer('b')?.status).toBe('healthy')
    wire.handlers.get(SHUTDOWN_NOTIFICATIONS_TOPIC)?.(goodbye.toDict())
    expect(coordinator.getPeer('b')?.status).toBe('draining')
    wire.handlers.get(WORK_ASSIGNMENT_TOPIC)?.(assignment.toDict())
    expect(assigned).toEqual([assignment])
  })

  it('shows heartbeats and assignments before the coordinator has them, those that it will ignore included', async () => {
    const { wire, logger, coordinator } = setUp()
    const seen: string[] = []
    await bindCoordinator(coordinator, wire, {
      logger,
      onHeartbeat: ({ instanceId }) =>
        void seen.push(`heartbeat of ${instanceId}, ${coordinator.getPeer('b')?.status ?? 'unknown'} so far`),
      onWorkAssignment: ({ targetInstanceId }) => void seen.push(`assignment to ${targetInstanceId}`),
    })
    wire.handlers.get(HEARTBEAT_TOPIC)?.(new HeartbeatMessage({ instanceId: 'me', timestamp: at(0) }).toDict())
    wire.handlers.get(HEARTBEAT_TOPIC)?.(heartbeat.toDict())
    wire.handlers.get(WORK_ASSIGNMENT_TOPIC)?.({ ...assignment.toDict(), target_instance_id: 'c' })
    expect(seen).toEqual(['heartbeat of me, unknown so far', 'heartbeat of b, unknown so far', 'assignment to c'])
  })

  it('drops and counts what cannot be read, on every topic, and shows it to nobody', async () => {
    const { wire, logger, coordinator } = setUp()
    const shown = (): never => expect.unreachable()
    const { decoder } = await bindCoordinator(coordinator, wire, { logger, onHeartbeat: shown, onWorkAssignment: shown })
    for (const handler of wire.handlers.values()) handler({ instance_id: '' })
    expect(decoder.dropped.map(({ topic }) => topic).toSorted()).toEqual(
      [HEARTBEAT_TOPIC, SHUTDOWN_NOTIFICATIONS_TOPIC, WORK_ASSIGNMENT_TOPIC].toSorted(),
    )
    expect(coordinator.knownPeers.size).toBe(0)
  })

  it('publishes each message on the topic of its kind', async () => {
    const { wire, logger, coordinator } = setUp()
    const binding = await bindCoordinator(coordinator, wire, { logger })
    for (const message of [heartbeat, goodbye, assignment]) await binding.publish(message)
    expect(wire.published).toEqual([
      { topic: HEARTBEAT_TOPIC, message: heartbeat.toDict() },
      { topic: SHUTDOWN_NOTIFICATIONS_TOPIC, message: goodbye.toDict() },
      { topic: WORK_ASSIGNMENT_TOPIC, message: assignment.toDict() },
    ])
  })

  it('hears no more once it was unbound', async () => {
    const { wire, logger, coordinator } = setUp()
    const { unbind } = await bindCoordinator(coordinator, wire, { logger })
    expect(wire.handlers.size).toBe(3)
    unbind()
    unbind()
    expect(wire.handlers.size).toBe(0)
  })

  it.each([HEARTBEAT_TOPIC, SHUTDOWN_NOTIFICATIONS_TOPIC, WORK_ASSIGNMENT_TOPIC])(
    'stays subscribed to nothing when %s is refused',
    async (topic) => {
      const { wire, logger, coordinator } = setUp()
      wire.refuses = topic
      await expect(bindCoordinator(coordinator, wire, { logger })).rejects.toThrow('no connection')
      expect(wire.handlers.size).toBe(0)
    },
  )
})
