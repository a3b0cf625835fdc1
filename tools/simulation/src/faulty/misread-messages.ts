import { HEARTBEAT_TOPIC, SHUTDOWN_NOTIFICATIONS_TOPIC, type Transport, WORK_ASSIGNMENT_TOPIC } from '@es/coordination-core'

/** A message on the wire, as far as it matters here. */
type Message = Readonly<Record<string, unknown>>

/** Reads a message of a topic otherwise than it was written. */
export type Misreading = (topic: string, message: Message) => Message

/** A transport whose receiver sees every message through `misread`. */
export function misreadMessages(inner: Transport, misread: Misreading): Transport {
  return {
    publish: (topic, message) => inner.publish(topic, message),
    subscribe: (topic, handler) => inner.subscribe(topic, (message) => handler(misread(topic, message as Message))),
    onResync: (callback) => inner.onResync(callback),
  }
}

/** Every assignment that arrives counts as the newest, of whichever leader it is: nothing looks at epochs. */
export function withoutEpochs(): Misreading {
  let highest = 0n
  let arrivals = 0
  return (topic, message) => {
    if (topic !== WORK_ASSIGNMENT_TOPIC) return message
    const epoch = BigInt(String(message.epoch ?? 0))
    if (epoch > highest) highest = epoch
    return { ...message, epoch: String(highest), revision: ++arrivals }
  }
}

/** Every heartbeat that arrives counts as the newest of its sender: nothing looks at the order in which they were sent. */
export function withoutSequences(): Misreading {
  let arrivals = 0
  return (topic, message) => (topic === HEARTBEAT_TOPIC ? { ...message, sequence: ++arrivals } : message)
}

/** Whoever has announced that it leaves is leaving for ever: a later life of it looks like the one that announced it. */
export function withoutNewLives(instanceId: string): Misreading {
  const leaving = new Map<unknown, unknown>()
  let arrivals = 0
  return (topic, message) => {
    const { instance_id: sender, incarnation } = message
    if (topic === WORK_ASSIGNMENT_TOPIC || sender === instanceId) return message
    if (topic === SHUTDOWN_NOTIFICATIONS_TOPIC && !leaving.has(sender)) leaving.set(sender, incarnation)
    if (!leaving.has(sender)) return message
    return { ...message, incarnation: leaving.get(sender), sequence: FAR_AHEAD + ++arrivals }
  }
}

// Beyond what the life that left has counted, so that nothing is dropped as late.
const FAR_AHEAD = 1_000_000
