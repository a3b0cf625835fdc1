import { HonestTransport, type Registration } from './honest-transport.fixture.js'
import type { Lie } from './lie.fixture.js'

export const failingHandlerLies: readonly Lie[] = [
  {
    lie: 'stops at a handler that throws',
    fails: ['goes on when a handler throws, and tells the publisher nothing of it'],
    transport: class extends HonestTransport {
      #hasFailed = false
      protected override deliver(recipients: readonly Registration[], carried: unknown): void {
        for (const registration of recipients) {
          this.#hasFailed = false
          super.deliver([registration], carried)
          if (this.#hasFailed) return
        }
      }
      protected override report(error: unknown): void {
        this.#hasFailed = true
        super.report(error)
      }
    },
  },
  {
    lie: 'unsubscribes a handler that throws, and all others of its topic',
    fails: [
      'goes on when a handler throws, and tells the publisher nothing of it',
      'goes on when a callback of onResync throws',
      'delivers what comes before and after garbage',
    ],
    transport: class extends HonestTransport {
      protected override report(error: unknown): void {
        this.registrations = []
        super.report(error)
      }
    },
  },
  {
    lie: 'rejects publish() when a handler of its own throws',
    fails: ['goes on when a handler throws, and tells the publisher nothing of it'],
    transport: class extends HonestTransport {
      #failure: unknown
      override async publish(topic: string, message: Readonly<Record<string, unknown>>): Promise<void> {
        await super.publish(topic, message)
        await new Promise((resolve) => setImmediate(resolve))
        const failure = this.#failure
        this.#failure = undefined
        if (failure !== undefined) throw failure
      }
      protected override report(error: unknown): void {
        this.#failure = error
        super.report(error)
      }
    },
  },
  {
    lie: 'keeps failures to itself',
    fails: [
      'logs what a handler throws',
      'logs what an async handler rejects with, for which nobody else waits',
      'logs what an async callback of onResync rejects with, for which nobody else waits',
    ],
    transport: class extends HonestTransport {
      protected override report(): void {}
    },
  },
  {
    lie: 'keeps the failures of async handlers to itself',
    fails: [
      'logs what an async handler rejects with, for which nobody else waits',
      'logs what an async callback of onResync rejects with, for which nobody else waits',
    ],
    transport: class extends HonestTransport {
      protected override call(call: () => unknown): void {
        super.call(() => {
          const returned = call()
          if (returned instanceof Promise) returned.catch(() => {})
        })
      }
    },
  },
  {
    lie: 'waits for each handler before it calls the next',
    fails: ['does not wait for an async handler'],
    transport: class extends HonestTransport {
      #last: Promise<unknown> = Promise.resolve()
      protected override deliver(recipients: readonly Registration[], carried: unknown): void {
        for (const registration of recipients) {
          const called = this.#last.then(() => (registration.isActive ? registration.handler(this.decode(carried)) : undefined))
          this.#last = called.catch((error: unknown) => this.report(error))
        }
      }
    },
  },
]
