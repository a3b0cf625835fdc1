import {
  CallbackList,
  ConnectionError,
  type Logger,
  safeLogger,
  type Transport,
  type TransportHandler,
  type Unsubscribe,
} from '@es/coordination-core'
import type { SimulatedProcess } from './simulated-process.js'

type Message = Readonly<Record<string, unknown>>

/** What a {@link GatedTransport} is made of. */
export interface GatedTransportOptions {
  readonly process: SimulatedProcess
  readonly logger: Logger
  /** Told of everything that is handed over. @default nobody */
  readonly published?: (topic: string, message: Message) => void
}

/** A transport as the code of a simulated process sees it: what arrives waits while the process is paused, and {@link cut} ends its connection. */
export class GatedTransport implements Transport {
  readonly #inner: Transport
  readonly #process: SimulatedProcess
  readonly #published: (topic: string, message: Message) => void
  readonly #resyncs: CallbackList<[]>
  /** How many faults cut it off. */
  #cuts = 0

  constructor(inner: Transport, { process, logger, published = () => {} }: GatedTransportOptions) {
    this.#inner = inner
    this.#process = process
    this.#published = published
    this.#resyncs = new CallbackList('resync', safeLogger(logger))
  }

  async publish(topic: string, message: Message): Promise<void> {
    // What was under way in it when it died may still be interrupted.
    if (this.#process.isDead) return await new Promise(() => {})
    this.#requireConnection()
    this.#published(topic, message)
    await this.#inner.publish(topic, message)
  }

  async subscribe(topic: string, handler: TransportHandler): Promise<Unsubscribe> {
    this.#requireConnection()
    let isOver = false
    const end = await this.#inner.subscribe(topic, (message): unknown => {
      if (this.#cuts > 0) return undefined
      // Handed back, so that the adapter can report a handler that fails.
      let returned: unknown
      this.#process.pass(() => {
        if (!isOver) returned = handler(message)
      })
      return returned
    })
    return () => {
      isOver = true
      end()
    }
  }

  onResync(callback: () => void): Unsubscribe {
    // Its own function, so that two registrations of one callback are two.
    const registered = (): void => callback()
    this.#resyncs.add(registered)
    const end = this.#inner.onResync(() => this.#process.pass(callback))
    return () => {
      this.#resyncs.remove(registered)
      end()
    }
  }

  /** Ends the connection: nothing arrives, and whoever publishes is told. */
  cut(): void {
    this.#cuts++
  }

  /** Ends one {@link cut}; the last one brings the connection back. Nothing is replayed; whoever asked for it is told. */
  mend(): void {
    if (this.#cuts === 0 || --this.#cuts > 0) return
    this.#process.pass(() => void this.#resyncs.prepare()({}))
  }

  #requireConnection(): void {
    if (this.#cuts > 0) throw new ConnectionError('unreachable', 'The simulated transport is cut off: it is back when the fault has ended')
  }
}
