import { HonestTransport, type Registration } from './honest-transport.fixture.js'
import type { Lie } from './lie.fixture.js'

export const garbageAndClosingLies: readonly Lie[] = [
  {
    lie: 'stops listening when it cannot read a message',
    fails: ['delivers what comes before and after garbage'],
    transport: class extends HonestTransport {
      protected override deliver(recipients: readonly Registration[], carried: unknown): void {
        try {
          this.decode(carried)
          super.deliver(recipients, carried)
        } catch {
          this.isConnected = false
        }
      }
    },
  },
  {
    lie: 'takes what comes behind garbage for a part of it',
    fails: ['delivers what comes before and after garbage'],
    transport: class extends HonestTransport {
      #rest = ''
      protected override decode(carried: unknown): unknown {
        const text = this.#rest + String(carried)
        this.#rest = text
        const message: unknown = super.decode(text)
        this.#rest = ''
        return message
      }
    },
  },
  {
    lie: 'does not close',
    fails: [
      'rejects calls with the code closed once it was closed, however often',
      'hears nothing more once it was closed, while the others go on',
    ],
    transport: class extends HonestTransport {
      override async close(): Promise<void> {}
    },
  },
  {
    lie: 'can be closed only once',
    fails: ['rejects calls with the code closed once it was closed, however often'],
    transport: class extends HonestTransport {
      override async close(): Promise<void> {
        this.requireConnection()
        await super.close()
      }
    },
  },
  {
    lie: 'still hears once it was closed',
    fails: ['hears nothing more once it was closed, while the others go on'],
    transport: class extends HonestTransport {
      override async close(): Promise<void> {
        this.isClosed = true
      }
    },
  },
  {
    lie: 'closes the medium for all',
    fails: ['hears nothing more once it was closed, while the others go on'],
    transport: class extends HonestTransport {
      override async close(): Promise<void> {
        await super.close()
        this.medium.receivers.splice(0)
      }
    },
  },
  {
    lie: 'tells a resync when it is closed',
    fails: ['hears nothing more once it was closed, while the others go on'],
    transport: class extends HonestTransport {
      override async close(): Promise<void> {
        await super.close()
        this.tellResync()
      }
    },
  },
]
