import {
  ConnectionError,
  consoleLogger,
  type Logger,
  safeLogger,
  type Transport,
  type TransportHandler,
  type Unsubscribe,
} from '@es/coordination-core'
import { SharedBus } from './shared-bus.js'

/** How an {@link InMemoryTransport} is set up. */
export interface InMemoryTransportOptions {
  /** Shared by the transports that hear each other. @default one of its own */
  readonly bus?: SharedBus
  /** Names this transport to the faults of the bus. @default '' */
  readonly name?: string
  /** @default consoleLogger */
  readonly logger?: Logger
}

/** A {@link Transport} inside one process. Own messages arrive too. For tests, and for programs that are one process. */
export class InMemoryTransport implements Transport, AsyncDisposable {
  readonly #bus: SharedBus
  readonly #name: string
  readonly #logger: Logger
  readonly #handlers = new Map<string, Set<{ readonly handler: TransportHandler }>>()
  readonly #resyncs = new Set<{ readonly callback: () => void }>()
  #leave: (() => void) | null
  #isClosed = false

  constructor({ bus = new SharedBus(), name = '', logger = consoleLogger }: InMemoryTransportOptions = {}) {
    this.#bus = bus
    this.#name = name
    this.#logger = safeLogger(logger)
    this.#leave = this.#join()
  }

  async publish(topic: string, message: Readonly<Record<string, unknown>>): Promise<void> {
    this.#requireConnection()
    this.#bus.send(this.#name, topic, message)
  }

  async subscribe(topic: string, handler: TransportHandler): Promise<Unsubscribe> {
    this.#requireConnection()
    const registration = { handler }
    const handlers = this.#handlers.get(topic) ?? new Set()
    this.#handlers.set(topic, handlers.add(registration))
    return () => void handlers.delete(registration)
  }

  onResync(callback: () => void): Unsubscribe {
    const registration = { callback }
    this.#resyncs.add(registration)
    return () => void this.#resyncs.delete(registration)
  }

  /** Cuts this transport off, as a lost connection would: it hears nothing, and {@link publish} rejects. */
  disconnect(): void {
    this.#leave?.()
    this.#leave = null
  }

  /** Ends {@link disconnect}. Nothing is replayed; whoever asked for it with `onResync` is told. */
  reconnect(): void {
    if (this.#leave !== null || this.#isClosed) return
    this.#leave = this.#join()
    for (const { callback } of this.#resyncs) this.#guard('resync', callback)
  }

  /** Disconnects for good. Idempotent. */
  async close(): Promise<void> {
    this.disconnect()
    this.#isClosed = true
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #join(): () => void {
    return this.#bus.join({ name: this.#name, receive: (topic, text) => this.#receive(topic, text) })
  }

  #receive(topic: string, text: string): void {
    for (const { handler } of [...(this.#handlers.get(topic) ?? [])]) this.#guard(topic, () => handler(JSON.parse(text)))
  }

  #guard(what: string, call: () => void): void {
    try {
      call()
    } catch (error) {
      this.#logger.error({ transport: this.#name, what, error }, 'A transport handler failed; the other handlers still run')
    }
  }

  #requireConnection(): void {
    if (this.#isClosed) throw new ConnectionError('closed', 'The transport was closed')
    if (this.#leave === null) throw new ConnectionError('unreachable', 'The transport is disconnected')
  }
}
