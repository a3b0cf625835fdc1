import { setImmediate as turn } from 'node:timers/promises'
import type { TransportHandler, Unsubscribe } from '@es/coordination-core'
import { HonestTransport, type Registration } from './honest-transport.fixture.js'
import type { Lie } from './lie.fixture.js'

export const subscriptionLies: readonly Lie[] = [
  {
    lie: 'resolves subscribe() before messages arrive, every tenth time',
    fails: [
      'keeps topics apart that differ in case, in a separator or in a part',
      'delivers what is published as soon as subscribe() has resolved',
      'delivers again to one that unsubscribed and subscribes anew',
    ],
    transport: class extends HonestTransport {
      #count = 0
      override async subscribe(topic: string, handler: TransportHandler): Promise<Unsubscribe> {
        if (++this.#count % 10 !== 0) return await super.subscribe(topic, handler)
        const unsubscribe = turn().then(() => turn().then(() => super.subscribe(topic, handler)))
        return () => void unsubscribe.then((end) => end())
      }
    },
  },
  {
    lie: 'calls a handler once more after it unsubscribed',
    fails: [
      'does not call a handler any more from the moment it unsubscribed',
      'ends one subscription only, however often it is asked to',
      'skips nobody when a handler unsubscribes itself',
      'does not call a handler that another one unsubscribed while the message was delivered',
      'does not renew a subscription that ended before or while it was disconnected',
    ],
    transport: class extends HonestTransport {
      #leaving: readonly Registration[] = []
      protected override unregister(registration: Registration): void {
        this.#leaving = [...this.#leaving, registration]
      }
      protected override deliver(recipients: readonly Registration[], carried: unknown): void {
        const leaving = this.#leaving
        super.deliver(recipients, carried)
        if (recipients.length > 0) for (const registration of leaving) super.unregister(registration)
      }
    },
  },
  {
    lie: 'does not unsubscribe',
    fails: [
      'does not call a handler any more from the moment it unsubscribed',
      'ends one subscription only, however often it is asked to',
      'skips nobody when a handler unsubscribes itself',
      'does not call a handler that another one unsubscribed while the message was delivered',
      'does not renew a subscription that ended before or while it was disconnected',
    ],
    transport: class extends HonestTransport {
      protected override unregister(): void {}
    },
  },
  {
    lie: 'gives a topic up for good with its last handler',
    fails: ['delivers again to one that unsubscribed and subscribes anew'],
    transport: class extends HonestTransport {
      readonly #givenUp = new Set<string>()
      protected override unregister(registration: Registration): void {
        super.unregister(registration)
        if (!this.registrations.some(({ topic }) => topic === registration.topic)) this.#givenUp.add(registration.topic)
      }
      protected override wants(registration: Registration, published: string): boolean {
        return super.wants(registration, published) && !this.#givenUp.has(published)
      }
    },
  },
  {
    lie: 'subscribes the same function once however often it is asked to',
    fails: ['ends one subscription only, however often it is asked to'],
    transport: class extends HonestTransport {
      protected override register(registration: Registration): Unsubscribe {
        const same = this.registrations.find(({ topic, handler }) => topic === registration.topic && handler === registration.handler)
        return same ? () => this.unregister(same) : super.register(registration)
      }
    },
  },
  {
    lie: 'ends any subscription of the same function, and one more with each call',
    fails: ['ends one subscription only, however often it is asked to'],
    transport: class extends HonestTransport {
      protected override unregister({ handler }: Registration): void {
        const any = this.registrations.find((registration) => registration.handler === handler)
        if (any) super.unregister(any)
      }
    },
  },
  {
    lie: 'ends all subscriptions of a topic with one',
    fails: [
      'does not call a handler any more from the moment it unsubscribed',
      'ends one subscription only, however often it is asked to',
      'skips nobody when a handler unsubscribes itself',
      'does not call a handler that another one unsubscribed while the message was delivered',
      'does not renew a subscription that ended before or while it was disconnected',
    ],
    transport: class extends HonestTransport {
      protected override unregister({ topic }: Registration): void {
        for (const registration of this.registrations) if (registration.topic === topic) super.unregister(registration)
      }
    },
  },
  {
    lie: 'skips the handler behind one that unsubscribes itself',
    fails: [
      'skips nobody when a handler unsubscribes itself',
      'does not call a handler that another one unsubscribed while the message was delivered',
    ],
    transport: class extends HonestTransport {
      protected override deliver(recipients: readonly Registration[], carried: unknown): void {
        for (let index = 0; index < recipients.length; index++) {
          const [registration] = recipients.slice(index)
          if (registration?.isActive) super.deliver([registration], carried)
          if (!registration?.isActive) index++
        }
      }
    },
  },
  {
    lie: 'calls whoever was subscribed when the message came',
    fails: ['does not call a handler that another one unsubscribed while the message was delivered'],
    transport: class extends HonestTransport {
      protected override deliver(recipients: readonly Registration[], carried: unknown): void {
        for (const { handler } of recipients) this.call(() => handler(this.decode(carried)))
      }
    },
  },
]
