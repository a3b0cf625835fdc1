import { CoordinationError } from '@es/coordination-core'
import { HonestTransport, MAX_BYTES, type Registration } from './honest-transport.fixture.js'
import type { Lie } from './lie.fixture.js'

type Message = Readonly<Record<string, unknown>>

export const contentLies: readonly Lie[] = [
  {
    lie: 'takes an empty message for none',
    fails: ['delivers an empty object unchanged'],
    transport: class extends HonestTransport {
      override async publish(topic: string, message: Message): Promise<void> {
        if (Object.keys(message).length > 0) await super.publish(topic, message)
      }
    },
  },
  {
    lie: 'writes text in Latin-1',
    fails: ['delivers text of all planes unchanged'],
    transport: class extends HonestTransport {
      protected override encode(message: Message): unknown {
        return Buffer.from(JSON.stringify(message), 'latin1').toString('latin1')
      }
    },
  },
  {
    lie: 'keeps numbers in single precision',
    fails: ['delivers numbers unchanged'],
    transport: class extends HonestTransport {
      protected override decode(carried: unknown): unknown {
        return JSON.parse(carried as string, (_key, value: unknown) => (typeof value === 'number' ? Math.fround(value) : value))
      }
    },
  },
  {
    lie: 'leaves empty lists out',
    fails: ['delivers values of every kind unchanged'],
    transport: class extends HonestTransport {
      protected override encode(message: Message): unknown {
        return JSON.stringify(message, (_key, value: unknown) => (Array.isArray(value) && value.length === 0 ? undefined : value))
      }
    },
  },
  {
    lie: 'copies messages key by key',
    fails: ['delivers names of object properties unchanged'],
    transport: class extends HonestTransport {
      protected override decode(carried: unknown): unknown {
        const copy: Record<string, unknown> = {}
        for (const [key, value] of Object.entries(JSON.parse(carried as string) as Message)) copy[key] = value
        return copy
      }
    },
  },
  {
    lie: 'hands over the very object that was published',
    fails: [
      'delivers what the message was when it was published, whatever becomes of the object',
      'gives each handler a message of its own, which it may change',
      'refuses a message as large as it says it cannot carry, and goes on',
      'rejects what JSON cannot hold, and goes on',
    ],
    transport: class extends HonestTransport {
      protected override encode(message: Message): unknown {
        return message
      }
      protected override decode(carried: unknown): unknown {
        return carried
      }
      protected override requireRoom(carried: unknown): void {
        const { text } = carried as { text?: unknown }
        super.requireRoom(text)
      }
    },
  },
  {
    lie: 'encodes a message when it is sent and not when it is published',
    fails: ['delivers what the message was when it was published, whatever becomes of the object'],
    transport: class extends HonestTransport {
      protected override encode(message: Message): unknown {
        super.requireRoom(JSON.stringify(message))
        return () => JSON.stringify(message)
      }
      override receive(from: object, topic: string, carried: unknown): void {
        super.receive(from, topic, typeof carried === 'function' ? carried() : carried)
      }
    },
  },
  {
    lie: 'hands the same object to all of its handlers',
    fails: ['gives each handler a message of its own, which it may change'],
    transport: class extends HonestTransport {
      #decoded: unknown
      protected override deliver(recipients: readonly Registration[], carried: unknown): void {
        this.call(() => {
          this.#decoded = super.decode(carried)
          super.deliver(recipients, carried)
        })
      }
      protected override decode(): unknown {
        return this.#decoded
      }
    },
  },
  {
    lie: 'loses what does not fit into one notification',
    fails: [
      'delivers a message of 100 KB whole, or refuses it as too large',
      'delivers a message as large as it says it can',
      'refuses a message as large as it says it cannot carry, and goes on',
    ],
    transport: class extends HonestTransport {
      protected override encode(message: Message): unknown {
        return JSON.stringify(message).slice(0, 8000)
      }
      protected override requireRoom(): void {}
    },
  },
  {
    lie: 'refuses large messages as a lost connection',
    fails: [
      'delivers a message of 100 KB whole, or refuses it as too large',
      'delivers a message as large as it says it can',
      'refuses a message as large as it says it cannot carry, and goes on',
    ],
    transport: class extends HonestTransport {
      protected override requireRoom(carried: unknown): void {
        if (String(carried).length > 8000) throw new CoordinationError('statement_failed', 'the server refused it')
      }
    },
  },
  {
    lie: 'carries less than it says',
    fails: ['delivers a message as large as it says it can'],
    transport: class extends HonestTransport {
      protected override requireRoom(carried: unknown): void {
        if (String(carried).length > MAX_BYTES / 2 + 1000) throw new CoordinationError('message_too_large', 'the message is too large')
      }
    },
  },
  {
    lie: 'delivers what it refuses as too large',
    fails: ['refuses a message as large as it says it cannot carry, and goes on'],
    transport: class extends HonestTransport {
      override async publish(topic: string, message: Message): Promise<void> {
        this.requireConnection()
        const carried = this.encode(message)
        this.medium.send(this, topic, carried)
        this.requireRoom(carried)
      }
    },
  },
  {
    lie: 'sends an empty message in place of what JSON cannot hold',
    fails: ['rejects what JSON cannot hold, and goes on'],
    transport: class extends HonestTransport {
      protected override encode(message: Message): unknown {
        try {
          return super.encode(message)
        } catch {
          return '{}'
        }
      }
    },
  },
]
