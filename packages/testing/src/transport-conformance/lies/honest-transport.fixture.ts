import {
  ConnectionError,
  CoordinationError,
  type Logger,
  type Transport,
  type TransportHandler,
  type Unsubscribe,
} from '@es/coordination-core'
import type { FakeMedium } from './fake-medium.fixture.js'

export const MAX_BYTES = 200_000

type Message = Readonly<Record<string, unknown>>

export interface Registration {
  readonly topic: string
  readonly handler: TransportHandler
  isActive: boolean
}

export interface ResyncRegistration {
  readonly callback: () => void
  isActive: boolean
}

export interface HonestTransportOptions {
  readonly medium: FakeMedium
  readonly logger: Logger
  readonly hearsItself: boolean
}

/** The smallest transport that keeps the whole contract: the suite must pass it, and the liars are made of it. */
export class HonestTransport implements Transport {
  protected readonly medium: FakeMedium
  protected readonly logger: Logger
  protected readonly hearsItself: boolean
  protected registrations: Registration[] = []
  protected resyncs: ResyncRegistration[] = []
  protected isConnected = true
  protected isClosed = false

  constructor({ medium, logger, hearsItself }: HonestTransportOptions) {
    this.medium = medium
    this.logger = logger
    this.hearsItself = hearsItself
    medium.join(this)
  }

  async publish(topic: string, message: Message): Promise<void> {
    this.requireConnection()
    const carried = this.encode(message)
    this.requireRoom(carried)
    this.medium.send(this, topic, carried)
  }

  async subscribe(topic: string, handler: TransportHandler): Promise<Unsubscribe> {
    this.requireConnection()
    return this.register({ topic, handler, isActive: true })
  }

  onResync(callback: () => void): Unsubscribe {
    const registration = { callback, isActive: true }
    this.resyncs.push(registration)
    return () => {
      registration.isActive = false
      this.resyncs = this.resyncs.filter((other) => other !== registration)
    }
  }

  receive(from: object, topic: string, carried: unknown): void {
    if (!this.isConnected || (from === this && !this.hearsItself)) return
    this.deliver(
      this.registrations.filter((registration) => this.wants(registration, topic)),
      carried,
    )
  }

  /** Called by the world. */
  disconnect(): void {
    this.isConnected = false
  }

  /** Called by the world. */
  reconnect(): void {
    if (this.isClosed) return
    this.isConnected = true
    this.tellResync()
  }

  async close(): Promise<void> {
    this.isClosed = true
    this.isConnected = false
  }

  protected encode(message: Message): unknown {
    return JSON.stringify(message)
  }

  protected decode(carried: unknown): unknown {
    return JSON.parse(carried as string)
  }

  protected wants({ topic }: Registration, published: string): boolean {
    return topic === published
  }

  protected register(registration: Registration): Unsubscribe {
    this.registrations = [...this.registrations, registration]
    return () => this.unregister(registration)
  }

  protected unregister(registration: Registration): void {
    registration.isActive = false
    this.registrations = this.registrations.filter((other) => other !== registration)
  }

  protected deliver(recipients: readonly Registration[], carried: unknown): void {
    for (const registration of recipients) {
      if (registration.isActive) this.call(() => registration.handler(this.decode(carried)))
    }
  }

  protected tellResync(): void {
    for (const registration of [...this.resyncs]) if (registration.isActive) this.call(registration.callback)
  }

  protected call(call: () => unknown): void {
    try {
      const returned = call()
      if (returned instanceof Promise) returned.catch((error: unknown) => this.report(error))
    } catch (error) {
      this.report(error)
    }
  }

  protected report(error: unknown): void {
    this.logger.warn({ error }, 'a handler failed')
  }

  protected requireRoom(carried: unknown): void {
    if (String(carried).length > MAX_BYTES) throw new CoordinationError('message_too_large', 'the message is too large')
  }

  protected requireConnection(): void {
    if (this.isClosed) throw new ConnectionError('closed', 'the transport was closed')
    if (!this.isConnected) throw new ConnectionError('unreachable', 'the transport is disconnected')
  }
}
