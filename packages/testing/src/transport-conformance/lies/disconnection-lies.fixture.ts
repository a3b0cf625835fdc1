import { ConnectionError, type TransportHandler, type Unsubscribe } from '@es/coordination-core'
import { HonestTransport, type Registration } from './honest-transport.fixture.js'
import type { Lie } from './lie.fixture.js'

type Message = Readonly<Record<string, unknown>>

export const disconnectionLies: readonly Lie[] = [
  {
    lie: 'takes its first connection for a new one',
    fails: ['tells no resync while nothing was lost', 'leaves the other transports alone when one is disconnected'],
    transport: class extends HonestTransport {
      #hasTold = false
      override async subscribe(topic: string, handler: TransportHandler): Promise<Unsubscribe> {
        const unsubscribe = await super.subscribe(topic, handler)
        if (!this.#hasTold) this.tellResync()
        this.#hasTold = true
        return unsubscribe
      }
    },
  },
  {
    lie: 'drops what it is asked to publish while it is disconnected',
    fails: ['rejects publish() with a ConnectionError while it is disconnected'],
    transport: class extends HonestTransport {
      override async publish(topic: string, message: Message): Promise<void> {
        if (this.isConnected || this.isClosed) await super.publish(topic, message)
      }
    },
  },
  {
    lie: 'waits for the connection before it publishes',
    fails: ['rejects publish() with a ConnectionError while it is disconnected'],
    transport: class extends HonestTransport {
      override async publish(topic: string, message: Message): Promise<void> {
        if (!this.isConnected && !this.isClosed) await new Promise(() => {})
        await super.publish(topic, message)
      }
    },
  },
  {
    lie: 'throws instead of rejecting',
    fails: [
      'rejects publish() with a ConnectionError while it is disconnected',
      'rejects calls with the code closed once it was closed, however often',
    ],
    transport: class extends HonestTransport {
      override publish(topic: string, message: Message): Promise<void> {
        this.requireConnection()
        return super.publish(topic, message)
      }
    },
  },
  {
    lie: 'rejects with an error that is no ConnectionError',
    fails: [
      'rejects publish() with a ConnectionError while it is disconnected',
      'rejects subscribe() with a ConnectionError while it is disconnected, and never calls that handler',
      'rejects calls with the code closed once it was closed, however often',
    ],
    transport: class extends HonestTransport {
      protected override requireConnection(): void {
        try {
          super.requireConnection()
        } catch (error) {
          throw new Error('not connected', { cause: error })
        }
      }
    },
  },
  {
    lie: 'resolves subscribe() while it is disconnected',
    fails: ['rejects subscribe() with a ConnectionError while it is disconnected, and never calls that handler'],
    transport: class extends HonestTransport {
      override async subscribe(topic: string, handler: TransportHandler): Promise<Unsubscribe> {
        if (this.isClosed || this.isConnected) return await super.subscribe(topic, handler)
        return this.register({ topic, handler, isActive: true })
      }
    },
  },
  {
    lie: 'remembers a handler whose subscribe() it rejected',
    fails: ['rejects subscribe() with a ConnectionError while it is disconnected, and never calls that handler'],
    transport: class extends HonestTransport {
      override async subscribe(topic: string, handler: TransportHandler): Promise<Unsubscribe> {
        const unsubscribe = this.register({ topic, handler, isActive: true })
        this.requireConnection()
        return unsubscribe
      }
    },
  },
  {
    lie: 'forgets its subscriptions with the connection',
    fails: [
      'has renewed its subscriptions when it tells onResync',
      'does not renew a subscription that ended before or while it was disconnected',
      'goes on when a callback of onResync throws',
    ],
    transport: class extends HonestTransport {
      override disconnect(): void {
        super.disconnect()
        this.registrations = []
      }
    },
  },
  {
    lie: 'renews one subscription only',
    fails: [
      'has renewed its subscriptions when it tells onResync',
      'does not renew a subscription that ended before or while it was disconnected',
    ],
    transport: class extends HonestTransport {
      override disconnect(): void {
        super.disconnect()
        this.registrations = this.registrations.slice(0, 1)
      }
    },
  },
  {
    lie: 'misses the first message after it told the resync',
    fails: [
      'rejects subscribe() with a ConnectionError while it is disconnected, and never calls that handler',
      'has renewed its subscriptions when it tells onResync',
      'does not renew a subscription that ended before or while it was disconnected',
      'goes on when a callback of onResync throws',
    ],
    transport: class extends HonestTransport {
      #isDeaf = false
      override reconnect(): void {
        this.#isDeaf = true
        super.reconnect()
      }
      protected override deliver(recipients: readonly Registration[], carried: unknown): void {
        if (!this.#isDeaf) super.deliver(recipients, carried)
        this.#isDeaf = false
      }
    },
  },
  {
    lie: 'never tells a resync',
    fails: [
      'rejects subscribe() with a ConnectionError while it is disconnected, and never calls that handler',
      'has renewed its subscriptions when it tells onResync',
      'publishes again after every loss of the connection, and tells each',
      'does not renew a subscription that ended before or while it was disconnected',
      'tells onResync no more once that has ended, however often it is asked to, and skips nobody',
      'goes on when a callback of onResync throws',
      'logs what an async callback of onResync rejects with, for which nobody else waits',
    ],
    transport: class extends HonestTransport {
      protected override tellResync(): void {}
    },
  },
  {
    lie: 'tells the first resync alone',
    fails: [
      'publishes again after every loss of the connection, and tells each',
      'tells onResync no more once that has ended, however often it is asked to, and skips nobody',
      'goes on when a callback of onResync throws',
    ],
    transport: class extends HonestTransport {
      #hasTold = false
      protected override tellResync(): void {
        if (!this.#hasTold) super.tellResync()
        this.#hasTold = true
      }
    },
  },
  {
    lie: 'hears but is not heard after a new connection',
    fails: ['publishes again after every loss of the connection, and tells each'],
    transport: class extends HonestTransport {
      #wasLost = false
      override async publish(topic: string, message: Message): Promise<void> {
        this.requireConnection()
        if (!this.#wasLost) await super.publish(topic, message)
      }
      override disconnect(): void {
        super.disconnect()
        this.#wasLost = true
      }
    },
  },
  {
    lie: 'renews subscriptions that ended while it was disconnected',
    fails: ['does not renew a subscription that ended before or while it was disconnected'],
    transport: class extends HonestTransport {
      protected override unregister(registration: Registration): void {
        if (this.isConnected) super.unregister(registration)
      }
    },
  },
  {
    lie: 'renews every subscription there ever was',
    fails: ['does not renew a subscription that ended before or while it was disconnected'],
    transport: class extends HonestTransport {
      readonly #all: Registration[] = []
      protected override register(registration: Registration): Unsubscribe {
        this.#all.push(registration)
        return super.register(registration)
      }
      override reconnect(): void {
        for (const registration of this.#all) registration.isActive = true
        this.registrations = [...this.#all]
        super.reconnect()
      }
    },
  },
  {
    lie: 'tells the resync of any transport',
    fails: ['leaves the other transports alone when one is disconnected'],
    transport: class extends HonestTransport {
      override disconnect(): void {
        super.disconnect()
        for (const receiver of this.medium.receivers) if (receiver !== this) (receiver as HonestTransport).reconnect()
      }
    },
  },
  {
    lie: 'loses all connections with one',
    fails: ['leaves the other transports alone when one is disconnected'],
    transport: class extends HonestTransport {
      override disconnect(): void {
        for (const receiver of this.medium.receivers) (receiver as this).isConnected = false
      }
      override reconnect(): void {
        if (!this.isClosed) for (const receiver of this.medium.receivers) (receiver as this).isConnected = true
        super.reconnect()
      }
    },
  },
  {
    lie: 'cannot stop telling a resync',
    fails: ['tells onResync no more once that has ended, however often it is asked to, and skips nobody'],
    transport: class extends HonestTransport {
      override onResync(callback: () => void): Unsubscribe {
        super.onResync(callback)
        return () => {}
      }
    },
  },
  {
    lie: 'tells the same function once of a resync however often it was registered',
    fails: ['tells onResync no more once that has ended, however often it is asked to, and skips nobody'],
    transport: class extends HonestTransport {
      override onResync(callback: () => void): Unsubscribe {
        const same = this.resyncs.find((registration) => registration.callback === callback)
        return same ? () => {} : super.onResync(callback)
      }
    },
  },
  {
    lie: 'skips the resync callback behind one that ends itself',
    fails: ['tells onResync no more once that has ended, however often it is asked to, and skips nobody'],
    transport: class extends HonestTransport {
      protected override tellResync(): void {
        const told = [...this.resyncs]
        for (let index = 0; index < told.length; index++) {
          const [registration] = told.slice(index)
          if (registration?.isActive) this.call(registration.callback)
          if (!registration?.isActive) index++
        }
      }
    },
  },
  {
    lie: 'stops at a resync callback that throws',
    fails: ['goes on when a callback of onResync throws'],
    transport: class extends HonestTransport {
      #hasFailed = false
      protected override tellResync(): void {
        this.#hasFailed = false
        for (const { callback } of [...this.resyncs]) if (!this.#hasFailed) this.call(callback)
      }
      protected override report(error: unknown): void {
        this.#hasFailed = true
        super.report(error)
      }
    },
  },
  {
    lie: 'keeps the failures of async resync callbacks to itself',
    fails: ['logs what an async callback of onResync rejects with, for which nobody else waits'],
    transport: class extends HonestTransport {
      protected override tellResync(): void {
        for (const registration of [...this.resyncs]) {
          if (!registration.isActive) continue
          this.call(() => {
            const returned: unknown = registration.callback()
            if (returned instanceof Promise) returned.catch(() => {})
          })
        }
      }
    },
  },
  {
    lie: 'rejects with a ConnectionError of another code once it was closed',
    fails: ['rejects calls with the code closed once it was closed, however often'],
    transport: class extends HonestTransport {
      protected override requireConnection(): void {
        if (!this.isConnected) throw new ConnectionError('unreachable', 'not connected')
      }
    },
  },
]
