import {
  ConnectionError,
  callSafely,
  invalidOption,
  type Logger,
  requireLogger,
  requireOptions,
  type Transport,
  type TransportHandler,
  type Unsubscribe,
} from '@es/coordination-core'
import { SharedBus } from './shared-bus.js'

/** How an {@link InMemoryTransport} is set up. */
export interface InMemoryTransportOptions {
  /** Shared by the transports that hear each other. */
  readonly bus: SharedBus
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

  /** @throws CoordinationError `invalid_options` without a `bus`. */
  constructor(options: InMemoryTransportOptions) {
    const { bus, name = '', logger } = requireOptions(options)
    if (!(bus instanceof SharedBus)) throw invalidOption('bus', bus, 'the SharedBus of all transports that are to hear each other')
    if (typeof name !== 'string') throw invalidOption('name', name, 'a string')
    this.#bus = bus
    this.#name = name
    this.#logger = requireLogger(logger)
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
    for (const registration of [...this.#resyncs]) if (this.#resyncs.has(registration)) this.#guard('resync', registration.callback)
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
    const handlers = this.#handlers.get(topic) ?? new Set()
    for (const registration of [...handlers]) {
      // Not one that another handler has just unsubscribed.
      if (handlers.has(registration)) this.#guard(topic, () => registration.handler(JSON.parse(text)))
    }
  }

  #guard(what: string, call: () => unknown): void {
    callSafely(call, (error) =>
      this.#logger.error({ transport: this.#name, what, error }, 'A transport handler failed; the other handlers still run'),
    )
  }

  #requireConnection(): void {
    if (this.#isClosed) throw new ConnectionError('closed', 'The transport was closed')
    if (this.#leave === null) throw new ConnectionError('unreachable', 'The transport is disconnected')
  }
}
