import { type Logger, safeLogger, type Transport, type TransportHandler, type Unsubscribe } from '@es/coordination-core'
import type { SimulatedNetwork } from './simulated-network.js'

/** A {@link Transport} over a `SimulatedNetwork`. Own messages arrive too. */
export class NetworkTransport implements Transport {
  readonly #network: SimulatedNetwork
  readonly #name: string
  readonly #logger: Logger
  readonly #handlers = new Map<string, Set<{ readonly handler: TransportHandler }>>()
  readonly #leave: () => void

  constructor(name: string, network: SimulatedNetwork, logger: Logger) {
    this.#name = name
    this.#network = network
    this.#logger = safeLogger(logger)
    this.#leave = network.join({ name, hear: (topic, text) => this.#hear(topic, text) })
  }

  async publish(topic: string, message: Readonly<Record<string, unknown>>): Promise<void> {
    this.#network.send(this.#name, topic, message)
  }

  async subscribe(topic: string, handler: TransportHandler): Promise<Unsubscribe> {
    const registration = { handler }
    const handlers = this.#handlers.get(topic) ?? new Set()
    this.#handlers.set(topic, handlers.add(registration))
    return () => void handlers.delete(registration)
  }

  /** Never calls: the network has no connections that could be lost. Whoever cuts an instance off tells it, see `GatedTransport`. */
  onResync(): Unsubscribe {
    return () => {}
  }

  close(): void {
    this.#leave()
  }

  #hear(topic: string, text: string): void {
    const handlers = this.#handlers.get(topic) ?? new Set()
    for (const registration of [...handlers]) if (handlers.has(registration)) this.#call(topic, registration.handler, text)
  }

  #call(topic: string, handler: TransportHandler, text: string): void {
    const failed = (error: unknown): void =>
      this.#logger.error({ transport: this.#name, topic, error }, 'A transport handler failed; the other handlers still run')
    try {
      const returned: unknown = handler(JSON.parse(text))
      // An async function is a handler by its type; nobody waits for it, but its failure must not end the process.
      if (returned instanceof Promise) returned.catch(failed)
    } catch (error) {
      failed(error)
    }
  }
}
