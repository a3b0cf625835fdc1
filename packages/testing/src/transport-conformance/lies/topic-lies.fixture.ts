import { ConnectionError, type TransportHandler, type Unsubscribe } from '@es/coordination-core'
import { HonestTransport, type Registration } from './honest-transport.fixture.js'
import type { Lie } from './lie.fixture.js'

const SERVER_LIMIT = 63

export const topicLies: readonly Lie[] = [
  {
    lie: 'delivers every message to every handler',
    fails: [
      'delivers what is published on the topic asked for, and nothing else',
      'takes topics of any spelling',
      'keeps topics apart that differ in case, in a separator or in a part',
      'keeps long topics apart that differ in their first or last character alone',
      'takes names of object properties as topics',
    ],
    transport: class extends HonestTransport {
      protected override wants(): boolean {
        return true
      }
    },
  },
  {
    lie: 'knows topics that are identifiers alone',
    fails: [
      'takes topics of any spelling',
      'keeps topics apart that differ in case, in a separator or in a part',
      'delivers what is published as soon as subscribe() has resolved',
    ],
    transport: class extends HonestTransport {
      override async subscribe(topic: string, handler: TransportHandler): Promise<Unsubscribe> {
        if (!/^[\w.]+$/.test(topic)) throw new ConnectionError('statement_failed', 'no such topic')
        return await super.subscribe(topic, handler)
      }
    },
  },
  {
    lie: 'ignores the case of topics',
    fails: ['keeps topics apart that differ in case, in a separator or in a part'],
    transport: class extends HonestTransport {
      protected override wants({ topic }: Registration, published: string): boolean {
        return topic.toLowerCase() === published.toLowerCase()
      }
    },
  },
  {
    lie: 'takes an asterisk in a topic for a wildcard',
    fails: ['keeps topics apart that differ in case, in a separator or in a part'],
    transport: class extends HonestTransport {
      protected override wants({ topic }: Registration, published: string): boolean {
        return topic.endsWith('*') ? published.startsWith(topic.slice(0, -1)) : topic === published
      }
    },
  },
  {
    lie: 'cuts topics as the server cuts identifiers',
    fails: ['keeps long topics apart that differ in their first or last character alone'],
    transport: class extends HonestTransport {
      protected override wants({ topic }: Registration, published: string): boolean {
        return topic.slice(0, SERVER_LIMIT) === published.slice(0, SERVER_LIMIT)
      }
    },
  },
  {
    lie: 'keeps its handlers in an object, by topic',
    fails: ['takes names of object properties as topics'],
    transport: class extends HonestTransport {
      readonly #known: Record<string, unknown> = {}
      override async subscribe(topic: string, handler: TransportHandler): Promise<Unsubscribe> {
        if (this.#known[topic] !== undefined && this.#known[topic] !== true) throw new TypeError('not iterable')
        this.#known[topic] = true
        return await super.subscribe(topic, handler)
      }
    },
  },
]
