import type { Clock } from '@es/coordination-core'
import type { SeededRandom } from './seeded-random.js'

/** What a network does to messages. What is left out matches all. */
export interface NetworkFault {
  readonly from?: string
  readonly to?: string
  readonly topic?: string
  /** Share of the messages that are lost. @default 0 */
  readonly loss?: number
  /** Share of the messages that arrive twice. @default 0 */
  readonly repeat?: number
  /** Every message, and each copy of it, takes up to this much longer, in seconds: so they overtake each other. @default 0 */
  readonly jitterSeconds?: number
  /** Every message takes this much longer, in seconds. @default 0 */
  readonly delaySeconds?: number
}

/** One message on its way to one listener. */
export interface NetworkDelivery {
  readonly topic: string
  readonly from: string
  readonly to: string
}

/** Figures of a {@link SimulatedNetwork}. */
export interface NetworkFigures {
  /** Messages that somebody published. */
  published: number
  /** Messages that reached somebody: one that reaches three counts three times. */
  delivered: number
  /** Length of the published messages as JSON text. */
  bytes: number
}

/** Somebody who hears everything on the network. */
export interface NetworkListener {
  readonly name: string
  hear(topic: string, text: string): void
}

const SHORTEST_SECONDS = 0.0005
const LONGEST_SECONDS = 0.005
// A message to very many arrives everywhere at one instant: a timer for each would take most of the time.
const MANY_LISTENERS = 16
// In a larger crowd each listener takes all that was said in a while at once: going through the memory of all of them for each message would take most of the time.
const CROWD = 256
const CROWD_SECONDS = 0.02

/** Carries messages between instances, as badly as its faults say. */
export class SimulatedNetwork {
  readonly figures: NetworkFigures = { published: 0, delivered: 0, bytes: 0 }
  readonly faults = new Set<NetworkFault>()
  /** Groups that do not hear each other, by name of the instance; an instance without one is in a further group. Each partition on its own. */
  readonly partitions = new Set<ReadonlyMap<string, number>>()
  readonly #clock: Clock
  readonly #random: SeededRandom
  readonly #listeners = new Set<NetworkListener>()
  /** What is on its way to a crowd. */
  #crowded: ((listener: NetworkListener) => void)[] = []

  constructor({ clock, random }: { readonly clock: Clock; readonly random: SeededRandom }) {
    this.#clock = clock
    this.#random = random
  }

  join(listener: NetworkListener): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** The process of that name is dead: it hears nothing any more. */
  drop(name: string): void {
    for (const listener of this.#listeners) if (listener.name === name) this.#listeners.delete(listener)
  }

  send(from: string, topic: string, message: Readonly<Record<string, unknown>>): void {
    // As text, so that nobody shares objects, and only what JSON can carry arrives.
    const text = JSON.stringify(message)
    this.figures.published++
    this.figures.bytes += text.length
    const deliver = (listener: NetworkListener): void => {
      if (!this.#listeners.has(listener)) return
      this.figures.delivered++
      listener.hear(topic, text)
    }
    const isFine = this.faults.size === 0 && this.partitions.size === 0
    if (isFine && this.#listeners.size > CROWD) {
      this.#sendToCrowd(deliver)
      return
    }
    if (isFine && this.#listeners.size > MANY_LISTENERS) {
      const all = [...this.#listeners]
      this.#clock.setTimer(this.#latencySeconds(), () => all.forEach(deliver))
      return
    }
    for (const listener of this.#listeners) {
      for (const seconds of this.delaysOf({ topic, from, to: listener.name })) this.#clock.setTimer(seconds, () => deliver(listener))
    }
  }

  /** How long each copy of a message takes that is sent now; empty when it is lost. For transports of another kind. */
  delaysOf(delivery: NetworkDelivery): readonly number[] {
    if (!this.isConnected(delivery.from, delivery.to)) return []
    const faults = [...this.faults].filter((fault) => matches(fault, delivery))
    // Nobody loses what it says to itself.
    if (delivery.from !== delivery.to && faults.some(({ loss = 0 }) => this.#random.happens(loss))) return []
    const copies = faults.some(({ repeat = 0 }) => this.#random.happens(repeat)) ? 2 : 1
    return Array.from({ length: copies }, () =>
      faults.reduce(
        (sum, { delaySeconds = 0, jitterSeconds = 0 }) =>
          sum + delaySeconds + (jitterSeconds > 0 ? this.#random.next() * jitterSeconds : 0),
        this.#latencySeconds(),
      ),
    )
  }

  #sendToCrowd(deliver: (listener: NetworkListener) => void): void {
    if (this.#crowded.length === 0) this.#clock.setTimer(CROWD_SECONDS, () => this.#deliverToCrowd())
    this.#crowded.push(deliver)
  }

  #deliverToCrowd(): void {
    const deliveries = this.#crowded
    this.#crowded = []
    // A timer each, so that whatever follows from it in a listener happens before the next one hears it.
    for (const listener of this.#listeners) this.#clock.setTimer(0, () => deliveries.forEach((deliver) => void deliver(listener)))
  }

  isConnected(from: string, to: string): boolean {
    return from === to || [...this.partitions].every((groups) => groups.get(from) === groups.get(to))
  }

  #latencySeconds(): number {
    return this.#random.between(SHORTEST_SECONDS, LONGEST_SECONDS)
  }
}

function matches(fault: NetworkFault, { from, to, topic }: NetworkDelivery): boolean {
  return (fault.from ?? from) === from && (fault.to ?? to) === to && (fault.topic ?? topic) === topic
}
