import type { TransportHandler, Unsubscribe } from '@es/coordination-core'
import { HonestTransport, type Registration } from './honest-transport.fixture.js'
import type { Lie } from './lie.fixture.js'

export const deliveryLies: readonly Lie[] = [
  {
    lie: 'does not reach the last transport that joined',
    fails: [
      'delivers a message to every transport that subscribes',
      'delivers in all directions',
      'delivers all of many messages that are published at once',
      'delivers what the message was when it was published, whatever becomes of the object',
      'gives each handler a message of its own, which it may change',
      'delivers again to one that unsubscribed and subscribes anew',
      'ends one subscription only, however often it is asked to',
      'goes on when a handler throws, and tells the publisher nothing of it',
      'rejects subscribe() with a ConnectionError while it is disconnected, and never calls that handler',
      'leaves the other transports alone when one is disconnected',
      'delivers what comes before and after garbage',
      'hears nothing more once it was closed, while the others go on',
    ],
    transport: class extends HonestTransport {
      override receive(from: object, topic: string, carried: unknown): void {
        if (from === this || this.medium.receivers.at(-1) !== this) super.receive(from, topic, carried)
      }
    },
  },
  {
    lie: 'is not heard when it joined last',
    fails: ['delivers in all directions'],
    transport: class extends HonestTransport {
      override receive(from: object, topic: string, carried: unknown): void {
        if (from === this || this.medium.receivers.at(-1) !== from) super.receive(from, topic, carried)
      }
    },
  },
  {
    lie: 'calls the latest handler of a topic alone',
    fails: [
      'delivers a message to every handler of a topic',
      'gives each handler a message of its own, which it may change',
      'does not call a handler any more from the moment it unsubscribed',
      'ends one subscription only, however often it is asked to',
      'skips nobody when a handler unsubscribes itself',
      'does not call a handler that another one unsubscribed while the message was delivered',
      'goes on when a handler throws, and tells the publisher nothing of it',
      'has renewed its subscriptions when it tells onResync',
      'delivers what comes before and after garbage',
    ],
    transport: class extends HonestTransport {
      protected override deliver(recipients: readonly Registration[], carried: unknown): void {
        super.deliver(recipients.slice(-1), carried)
      }
    },
  },
  {
    lie: 'has room for twenty messages under way and loses the others',
    fails: ['delivers all of many messages that are published at once'],
    transport: class extends HonestTransport {
      #underWay = 0
      override async publish(topic: string, message: Readonly<Record<string, unknown>>): Promise<void> {
        this.#underWay++
        setImmediate(() => this.#underWay--)
        if (this.#underWay <= 20) await super.publish(topic, message)
      }
    },
  },
  {
    lie: 'does not hear itself although it says so',
    fails: ['delivers to its own subscribers what it publishes, or does not, as declared'],
    transport: class extends HonestTransport {
      override receive(from: object, topic: string, carried: unknown): void {
        if (from !== this) super.receive(from, topic, carried)
      }
    },
  },
  {
    lie: 'hears itself although it denies that',
    fails: ['delivers to its own subscribers what it publishes, or does not, as declared'],
    loopback: false,
    transport: class extends HonestTransport {
      override receive(from: object, topic: string, carried: unknown): void {
        super.receive(from === this ? this.medium : from, topic, carried)
      }
    },
  },
  {
    lie: 'cannot subscribe while it delivers',
    fails: ['lets a handler publish and subscribe'],
    transport: class extends HonestTransport {
      #isDelivering = false
      override async subscribe(topic: string, handler: TransportHandler): Promise<Unsubscribe> {
        if (this.#isDelivering) await new Promise(() => {})
        return await super.subscribe(topic, handler)
      }
      protected override deliver(recipients: readonly Registration[], carried: unknown): void {
        this.#isDelivering = true
        super.deliver(recipients, carried)
        this.#isDelivering = false
      }
    },
  },
]
