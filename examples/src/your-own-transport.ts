// Shows how to write a transport of your own, and how to find out whether it keeps the contract. This one is for a bus in the manner of Redis: text on
// channels, one connection an instance, which can break. A few lines below stand in for the bus; the adapter is what you would write around
// your client. What the bus loses is lost: nothing is replayed, so the adapter says when it may have been deaf.
import { EventEmitter } from 'node:events'
import { describe, it } from 'node:test'
import {
  ConnectionError,
  CoordinationError,
  consoleLogger,
  errorMessage,
  type Logger,
  safeLogger,
  type Transport,
  type TransportHandler,
  type Unsubscribe,
} from '@es/coordination-core'
import { transportConformance } from '@es/coordination-testing'

const LONGEST_TEXT = 512 * 1024

class BusTransport implements Transport {
  readonly #client: BusClient
  readonly #logger: Logger
  /** A registration is an object of its own: the same function may be subscribed twice. */
  readonly #handlers = new Map<string, Set<{ readonly handler: TransportHandler }>>()
  readonly #resyncs = new Set<{ readonly callback: () => void }>()
  #isClosed = false

  constructor({ bus, logger = consoleLogger }: { readonly bus: EventEmitter; readonly logger?: Logger }) {
    this.#client = new BusClient(bus)
    this.#logger = safeLogger(logger)
    this.#client.onText = (channel, text) => this.#receive(channel, text)
    this.#client.onReconnect = () => this.#resync()
  }

  async publish(topic: string, message: Readonly<Record<string, unknown>>): Promise<void> {
    // To text at once: what becomes of the object later concerns nobody.
    const text = JSON.stringify(message)
    if (text.length > LONGEST_TEXT) throw new CoordinationError('message_too_large', `A message on ${topic} is longer than ${LONGEST_TEXT}`)
    await this.#ask(() => this.#client.publish(topic, text))
  }

  async subscribe(topic: string, handler: TransportHandler): Promise<Unsubscribe> {
    await this.#ask(() => this.#client.subscribe(topic))
    const registration = { handler }
    const handlers = this.#handlers.get(topic) ?? new Set()
    this.#handlers.set(topic, handlers.add(registration))
    return () => {
      handlers.delete(registration)
      if (handlers.size > 0 || this.#handlers.get(topic) !== handlers) return
      this.#handlers.delete(topic)
      this.#client.unsubscribe(topic)
    }
  }

  onResync(callback: () => void): Unsubscribe {
    const registration = { callback }
    this.#resyncs.add(registration)
    return () => void this.#resyncs.delete(registration)
  }

  /** Not part of the contract; whoever makes a transport ends it. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#client.disconnect()
  }

  /** Only for the check. */
  get client(): BusClient {
    return this.#client
  }

  /** Whatever the client throws becomes the error that the contract names. */
  async #ask(call: () => void): Promise<void> {
    if (this.#isClosed) throw new ConnectionError('closed', 'The transport was closed')
    try {
      call()
    } catch (error) {
      throw new ConnectionError('unreachable', `The bus cannot be reached: ${errorMessage(error)}`, { cause: error })
    }
  }

  #receive(topic: string, text: string): void {
    // A copy for each, parsed anew: a handler may do with its message what it likes.
    for (const registration of [...(this.#handlers.get(topic) ?? [])]) {
      if (this.#handlers.get(topic)?.has(registration)) this.#guard('handler', () => registration.handler(JSON.parse(text)))
    }
  }

  #resync(): void {
    for (const registration of [...this.#resyncs])
      if (this.#resyncs.has(registration)) this.#guard('resync callback', registration.callback)
  }

  /** Nobody's failure concerns anybody else, that of an async function neither. */
  #guard(what: string, call: () => unknown): void {
    const failed = (error: unknown): void => this.#logger.error({ error }, `A ${what} failed; the others go on`)
    try {
      Promise.resolve(call()).catch(failed)
    } catch (error) {
      failed(error)
    }
  }
}

/** Stands in for the client of a bus: it forgets nothing that it was subscribed to, and is deaf while it is disconnected. */
class BusClient {
  onText: (channel: string, text: string) => void = () => {}
  onReconnect: () => void = () => {}
  readonly #bus: EventEmitter
  readonly #channels = new Set<string>()
  #isConnected = true

  constructor(bus: EventEmitter) {
    this.#bus = bus
    bus.on('text', this.#hear)
  }

  publish(channel: string, text: string): void {
    this.#requireConnection()
    // In a later turn, as over a network.
    setImmediate(() => this.#bus.emit('text', channel, text))
  }

  subscribe(channel: string): void {
    this.#requireConnection()
    this.#channels.add(channel)
  }

  unsubscribe(channel: string): void {
    this.#channels.delete(channel)
  }

  disconnect(): void {
    this.#isConnected = false
    this.#bus.off('text', this.#hear)
  }

  reconnect(): void {
    this.#isConnected = true
    this.#bus.on('text', this.#hear)
    this.onReconnect()
  }

  readonly #hear = (channel: string, text: string): void => {
    if (this.#channels.has(channel)) this.onText(channel, text)
  }

  #requireConnection(): void {
    if (!this.#isConnected) throw new Error('connect ECONNREFUSED')
  }
}

// The contract, as tests: one for each sentence of it. vitest's `describe` and `it` fit as well.
transportConformance(
  { describe, it },
  {
    name: 'BusTransport',
    async open({ logger }) {
      const bus = new EventEmitter()
      const join = (): BusTransport => new BusTransport({ bus, logger })
      return { transports: [join(), join(), join()] as const, bus, close: async () => void bus.removeAllListeners() }
    },
    powers: {
      loopback: true,
      logging: true,
      carriesBytes: 100_000,
      refusesBytes: LONGEST_TEXT + 1,
      async disconnect({ transports }, transport) {
        const client = transports.find((one) => one === transport)?.client
        client?.disconnect()
        return async () => client?.reconnect()
      },
      garbage: async ({ bus }, topic) => void bus.emit('text', topic, 'no JSON at all'),
      close: async ({ transports }, transport) => transports.find((one) => one === transport)?.close(),
    },
  },
)
