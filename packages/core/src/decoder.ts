import { InvalidMessageError } from './errors.js'
import { HeartbeatMessage } from './heartbeat-message.js'
import type { Logger } from './logger.js'
import { describeValue, requireLogger, requireOptions } from './options.js'
import { ShutdownNotification } from './shutdown-notification.js'
import { HEARTBEAT_TOPIC, SHUTDOWN_NOTIFICATIONS_TOPIC, WORK_ASSIGNMENT_TOPIC } from './topics.js'
import { WorkAssignment } from './work-assignment.js'

/** Longest text that is decoded, in UTF-16 units. Enough for 10,000 subscriptions with names of 100 characters. */
export const MAX_MESSAGE_TEXT_LENGTH = 1_048_576

/** Any of the three coordination messages. */
export type CoordinationMessage = HeartbeatMessage | ShutdownNotification | WorkAssignment

/**
 * What can be wrong with something that came off a transport: a topic that carries no coordination message, a text above
 * {@link MAX_MESSAGE_TEXT_LENGTH}, a text that is not JSON (such as the bare `NaN` that Python writes), an object that is not the message
 * which its topic carries, or an object that cannot even be read.
 */
export type DecodeFault = 'unknown_topic' | 'too_long' | 'not_json' | 'invalid_message' | 'unreadable'

/** How often something was dropped. */
export interface DroppedMessages {
  /** One of the three topics; `null` for all others together. */
  readonly topic: string | null
  readonly fault: DecodeFault
  readonly count: number
}

/** What a {@link MessageDecoder} is made of. */
export interface MessageDecoderOptions {
  /** @default consoleLogger */
  readonly logger?: Logger
}

type Reader = (dict: unknown) => CoordinationMessage

const READERS: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  [HEARTBEAT_TOPIC, HeartbeatMessage.fromDict],
  [SHUTDOWN_NOTIFICATIONS_TOPIC, ShutdownNotification.fromDict],
  [WORK_ASSIGNMENT_TOPIC, WorkAssignment.fromDict],
])

/**
 * Turns what comes off a transport into messages, and never throws into it: what cannot be decoded is counted, logged once for each
 * topic and kind of fault, and dropped.
 */
export class MessageDecoder {
  readonly #logger: Logger
  readonly #dropped = new Map<string, { topic: string | null; fault: DecodeFault; count: number }>()

  /** @throws CoordinationError `invalid_options` when `logger` is none. */
  constructor(options: MessageDecoderOptions = {}) {
    this.#logger = requireLogger(requireOptions(options).logger)
  }

  /**
   * The message, or `null` when there is none in it.
   *
   * @param payload JSON text, or what `JSON.parse` made of it.
   */
  decode(topic: typeof HEARTBEAT_TOPIC, payload: unknown): HeartbeatMessage | null
  decode(topic: typeof SHUTDOWN_NOTIFICATIONS_TOPIC, payload: unknown): ShutdownNotification | null
  decode(topic: typeof WORK_ASSIGNMENT_TOPIC, payload: unknown): WorkAssignment | null
  decode(topic: string, payload: unknown): CoordinationMessage | null
  decode(topic: string, payload: unknown): CoordinationMessage | null {
    const read = READERS.get(topic)
    if (!read) return this.#drop(null, 'unknown_topic', { topic: describeValue(topic) })

    let dict = payload
    if (typeof payload === 'string') {
      if (payload.length > MAX_MESSAGE_TEXT_LENGTH) return this.#drop(topic, 'too_long', { length: payload.length })
      try {
        dict = JSON.parse(payload)
      } catch {
        // The parser's own message quotes the input.
        return this.#drop(topic, 'not_json', { length: payload.length })
      }
    }

    try {
      return read(dict)
    } catch (error) {
      return this.#drop(topic, error instanceof InvalidMessageError ? 'invalid_message' : 'unreadable', { error })
    }
  }

  /** What was dropped so far, by topic and kind of fault. */
  get dropped(): readonly DroppedMessages[] {
    return [...this.#dropped.values()].map((entry) => ({ ...entry }))
  }

  /** How many were dropped so far, all told. */
  get droppedCount(): number {
    let total = 0
    for (const { count } of this.#dropped.values()) total += count
    return total
  }

  #drop(topic: string | null, fault: DecodeFault, details: Readonly<Record<string, unknown>>): null {
    const kind = `${fault} ${topic ?? ''}`
    const entry = this.#dropped.get(kind)
    if (entry) {
      entry.count++
      return null
    }
    this.#dropped.set(kind, { topic, fault, count: 1 })
    this.#logger.warn(
      { topic, fault, ...details },
      'Dropped a coordination message that cannot be read; further ones of this kind are only counted',
    )
    return null
  }
}
