// Shows two instances that tell each other how they are, over nothing but an EventEmitter and JSON text, as it would be over any message bus. One of
// them dies without a word; the other notices, lists the subscriptions that are orphaned now, and takes them over.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { EventEmitter, once } from 'node:events'
import {
  HEARTBEAT_TOPIC,
  type HeartbeatMessage,
  MessageDecoder,
  SHUTDOWN_NOTIFICATIONS_TOPIC,
  ShutdownIntent,
  type ShutdownNotification,
  WorkRedistributionCoordinator,
} from '@es/coordination-core'

const HEARTBEAT_EVERY_MS = 50
const HEARTBEAT_TIMEOUT_SECONDS = 0.3

const bus = new EventEmitter()

/** One instance: a coordinator, its way to the bus, and the loops that the coordinator leaves to its user. */
class Instance {
  readonly coordinator: WorkRedistributionCoordinator
  readonly #decoder = new MessageDecoder()
  readonly #subscriptions: string[]
  readonly #loop: NodeJS.Timeout

  constructor(instanceId: string, subscriptions: readonly string[]) {
    this.#subscriptions = [...subscriptions]
    this.coordinator = new WorkRedistributionCoordinator({
      instanceId,
      incarnation: randomUUID(),
      heartbeatTimeoutSeconds: HEARTBEAT_TIMEOUT_SECONDS,
    })
    bus.on(HEARTBEAT_TOPIC, this.#onHeartbeat)
    bus.on(SHUTDOWN_NOTIFICATIONS_TOPIC, this.#onShutdown)
    this.#loop = setInterval(() => this.#beat(), HEARTBEAT_EVERY_MS)
    this.#beat()
  }

  takeOver(subscriptions: readonly string[]): void {
    this.#subscriptions.push(...subscriptions)
    this.#beat()
  }

  /** Leaves in order: peers need not wait for a timeout. */
  leave(): void {
    const goodbye = this.coordinator.createShutdownNotification({ intent: ShutdownIntent.Graceful, subscriptions: this.#subscriptions })
    publish(SHUTDOWN_NOTIFICATIONS_TOPIC, goodbye)
    this.die()
  }

  /** Falls silent, as a process does that was killed. */
  die(): void {
    clearInterval(this.#loop)
    bus.off(HEARTBEAT_TOPIC, this.#onHeartbeat)
    bus.off(SHUTDOWN_NOTIFICATIONS_TOPIC, this.#onShutdown)
  }

  #beat(): void {
    publish(HEARTBEAT_TOPIC, this.coordinator.createHeartbeat({ subscriptions: this.#subscriptions }))
    void this.coordinator.checkPeerTimeouts()
  }

  // What cannot be read is counted, logged and dropped by the decoder: nothing that somebody puts on the bus ends this process.
  readonly #onHeartbeat = (text: string): void => {
    const heartbeat = this.#decoder.decode(HEARTBEAT_TOPIC, text)
    if (heartbeat) void this.coordinator.handleHeartbeat(heartbeat)
  }

  readonly #onShutdown = (text: string): void => {
    const notification = this.#decoder.decode(SHUTDOWN_NOTIFICATIONS_TOPIC, text)
    if (notification) void this.coordinator.handlePeerShutdown(notification)
  }
}

function publish(topic: string, message: HeartbeatMessage | ShutdownNotification): void {
  bus.emit(topic, JSON.stringify(message.toDict()))
}

/** Resolves with the id of the next peer that `coordinator` reports as timed out. */
async function nextTimeout(coordinator: WorkRedistributionCoordinator): Promise<string> {
  const timeouts = new EventEmitter()
  coordinator.onPeerTimeout((instanceId) => void timeouts.emit('timeout', instanceId))
  const [instanceId] = await once(timeouts, 'timeout')
  return instanceId
}

const survivor = new Instance('instance-1', ['invoices'])
const victim = new Instance('instance-2', ['orders', 'shipments'])
const { coordinator } = survivor

// A peer is known from its first heartbeat on; an EventEmitter delivers at once.
assert.equal(coordinator.healthyPeerCount, 1)
assert.deepEqual(coordinator.getPeer('instance-2')?.subscriptions, ['orders', 'shipments'])
assert.equal(coordinator.getOrphanedSubscriptions().size, 0)

const timeout = nextTimeout(coordinator)
victim.die()
const diedAt = performance.now()
assert.equal(await timeout, 'instance-2')
console.log(`instance-1 noticed the death of instance-2 after ${((performance.now() - diedAt) / 1000).toFixed(2)} s`)
assert.equal(coordinator.getPeer('instance-2')?.status, 'stale')

const orphans = coordinator.getOrphanedSubscriptions()
assert.deepEqual([...orphans], [['instance-2', ['orders', 'shipments']]])
console.log(`Orphaned: ${[...orphans.values()].flat().join(', ')}`)

// Listing them in a heartbeat is what claims them.
survivor.takeOver([...orphans.values()].flat())
assert.equal(coordinator.getOrphanedSubscriptions().size, 0)

// The dead one comes back under its old name: a new incarnation is a new life, healthy from its first heartbeat.
const successor = new Instance('instance-2', [])
assert.equal(coordinator.getPeer('instance-2')?.status, 'healthy')

// Leaving in order is noticed at once.
successor.leave()
assert.equal(coordinator.getPeer('instance-2')?.status, 'draining')
console.log('instance-2 came back, and said goodbye this time')
survivor.die()
