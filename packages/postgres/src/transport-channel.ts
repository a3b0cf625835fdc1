import { createHash, randomBytes } from 'node:crypto'
import { requireName } from '@es/coordination-core'

// WIRE FORMAT. Instances of different releases meet on these channels: another derivation would split the cluster in two.
const VERSION = 'es-coordination-channel/1'

/** The server cuts identifiers at 63 bytes; this leaves room for the prefix and the hash. */
const READABLE_LENGTH = 40

const REMEMBERED = 1000

/**
 * The notification channel of `topic` in `namespace`: `es_`, the topic for human eyes (its letters and digits in lower case, the last 40 characters), `_`,
 * and the first 16 hexadecimal digits of the SHA-256 of the UTF-8 bytes of `es-coordination-channel/1`, a zero byte, the namespace, a zero byte, the topic.
 *
 * At most 60 bytes of `[a-z0-9_]`, so it is one and the same channel quoted or not, and is never cut.
 */
export function deriveChannel(namespace: string, topic: string): string {
  requireName('topic', topic)
  const hash = createHash('sha256').update(`${VERSION}\0${namespace}\0${topic}`, 'utf8').digest('hex').slice(0, 16)
  const readable = topic
    .replaceAll(/[^A-Za-z0-9]+/g, '_')
    .toLowerCase()
    .slice(-READABLE_LENGTH)
    .replaceAll(/^_|_$/g, '')
  return `es_${readable}_${hash}`
}

/** The channels of a namespace. A topic is used again and again, and a hash costs more than the rest of a publication on this side. */
export class TopicChannels {
  readonly #namespace: string
  readonly #remembered = new Map<string, string>()

  constructor(namespace: string) {
    this.#namespace = namespace
  }

  /** See {@link deriveChannel}. */
  of(topic: string): string {
    const known = this.#remembered.get(topic)
    if (known !== undefined) return known
    const channel = deriveChannel(this.#namespace, topic)
    if (this.#remembered.size >= REMEMBERED) this.#remembered.clear()
    this.#remembered.set(topic, channel)
    return channel
  }
}

/** A channel that nobody else listens to, for a connection to talk to itself. */
export function privateChannel(): string {
  return `es_echo_${randomBytes(12).toString('hex')}`
}
