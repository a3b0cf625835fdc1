import { z } from 'zod'
import { systemClock } from './clock.js'
import { formatInstant } from './instant.js'
import type { JsonObject } from './json-value.js'
import { checkMessage, field, readInstant, readMessage } from './message-schema.js'
import { ShutdownIntent } from './shutdown-intent.js'

const TYPE = 'ShutdownNotification'

const INTENTS: readonly unknown[] = Object.values(ShutdownIntent)

const schema = z.object({
  instanceId: field.name,
  intent: z.custom<ShutdownIntent>((value) => INTENTS.includes(value), { error: `one of ${INTENTS.join(', ')}` }),
  initiatedAt: field.instant,
  expectedCompletionAt: field.instant,
  subscriptions: field.subscriptions,
  inFlightCount: field.count.default(0),
  metadata: field.metadata,
  incarnation: field.name.optional(),
  sequence: field.count.optional(),
})

const KEYS = {
  instanceId: 'instance_id',
  intent: 'intent',
  initiatedAt: 'initiated_at',
  expectedCompletionAt: 'expected_completion_at',
  subscriptions: 'subscriptions',
  inFlightCount: 'in_flight_count',
  metadata: 'metadata',
  incarnation: 'incarnation',
  sequence: 'sequence',
} as const

/** What a {@link ShutdownNotification} is made of. The properties mean what the fields of the message do. */
export interface ShutdownNotificationProps {
  readonly instanceId: string
  readonly intent: ShutdownIntent
  readonly initiatedAt: Date
  readonly expectedCompletionAt: Date
  /** @default [] */
  readonly subscriptions?: readonly string[] | undefined
  /** @default 0 */
  readonly inFlightCount?: number | undefined
  /**
   * Anything that JSON can hold; copied. Properties that are `undefined` are left out.
   * @default {}
   */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
  readonly incarnation?: string | undefined
  readonly sequence?: number | undefined
}

/** A {@link ShutdownNotification} on the wire. The keys mean what the fields of the message do; instants are text, such as `2026-03-01T12:00:00.000+00:00`. */
export interface ShutdownDict {
  readonly instance_id: string
  readonly intent: ShutdownIntent
  readonly initiated_at: string
  readonly expected_completion_at: string
  readonly subscriptions: readonly string[]
  readonly in_flight_count: number
  readonly metadata: JsonObject
  readonly incarnation?: string
  readonly sequence?: number
}

/**
 * "I am leaving; this is what I leave behind, and until then I finish." Sent once by a departing instance. Frozen, metadata included.
 * The reference's message of the same name, with two optional additions that an older reader skips.
 */
export class ShutdownNotification {
  /** Who leaves: 1 to {@link MAX_NAME_LENGTH} UTF-16 units of well-formed Unicode. */
  readonly instanceId: string
  /** Why it leaves. */
  readonly intent: ShutdownIntent
  /** When the drain began, by the sender's wall clock, to the millisecond. */
  readonly initiatedAt: Date
  /** When the sender expects to be done, by the same clock. Only the difference of the two says anything to another machine. */
  readonly expectedCompletionAt: Date
  /** What the sender gives up: at most {@link MAX_SUBSCRIPTIONS} names, each once, in the sender's order. Frozen. */
  readonly subscriptions: readonly string[]
  /** Events being handled when the drain began. */
  readonly inFlightCount: number
  /** Free-form context of at most {@link MAX_METADATA_SIZE} characters. A key `__proto__` is kept as an own key. */
  readonly metadata: JsonObject
  /** Addition: names this run of the instance, so that the notification of an earlier life does not end the present one. */
  readonly incarnation: string | undefined
  /** Addition: counts the messages of one incarnation, heartbeats included. */
  readonly sequence: number | undefined

  /** @throws InvalidMessageError when a property is off, so that nobody sends what others would refuse. Paths are property names. */
  constructor(props: ShutdownNotificationProps) {
    const checked = checkMessage(TYPE, schema, props)
    this.instanceId = checked.instanceId
    this.intent = checked.intent
    this.initiatedAt = new Date(checked.initiatedAt)
    this.expectedCompletionAt = new Date(checked.expectedCompletionAt)
    this.subscriptions = checked.subscriptions
    // Adding 0 turns -0, which JSON cannot write, into 0.
    this.inFlightCount = checked.inFlightCount + 0
    this.metadata = checked.metadata
    this.incarnation = checked.incarnation
    this.sequence = checked.sequence === undefined ? undefined : checked.sequence + 0
    Object.freeze(this)
  }

  /**
   * Reads a message off the wire. Unknown keys are ignored and absent optional keys have the reference's defaults; a key that is `null` is
   * off. Digits of the instants after the milliseconds are cut.
   *
   * @throws InvalidMessageError for anything else, with the keys on the wire as paths.
   */
  static fromDict(dict: unknown): ShutdownNotification {
    return readMessage(TYPE, KEYS, dict, read)
  }

  /** The message on the wire: the reference's keys in its order, then those of our additions that are set. */
  toDict(): ShutdownDict {
    return {
      instance_id: this.instanceId,
      intent: this.intent,
      initiated_at: formatInstant(this.initiatedAt),
      expected_completion_at: formatInstant(this.expectedCompletionAt),
      subscriptions: this.subscriptions,
      in_flight_count: this.inFlightCount,
      metadata: this.metadata,
      ...(this.incarnation === undefined ? undefined : { incarnation: this.incarnation }),
      ...(this.sequence === undefined ? undefined : { sequence: this.sequence }),
    }
  }

  /** Seconds until {@link expectedCompletionAt} by this machine's clock; 0 when past. */
  get timeRemainingSeconds(): number {
    return this.timeRemainingSecondsAt(systemClock.now())
  }

  /** Whether {@link expectedCompletionAt} is reached by this machine's clock. */
  get isExpired(): boolean {
    return this.isExpiredAt(systemClock.now())
  }

  /** {@link timeRemainingSeconds} as of `now`. */
  timeRemainingSecondsAt(now: Date): number {
    return Math.max(0, (this.expectedCompletionAt.getTime() - now.getTime()) / 1000)
  }

  /** {@link isExpired} as of `now`. */
  isExpiredAt(now: Date): boolean {
    return now.getTime() >= this.expectedCompletionAt.getTime()
  }
}

function read(wire: Readonly<Record<string, unknown>>): ShutdownNotification {
  // The constructor refuses what does not have the claimed type.
  return new ShutdownNotification({
    instanceId: wire[KEYS.instanceId],
    intent: wire[KEYS.intent],
    initiatedAt: readInstant(wire[KEYS.initiatedAt]),
    expectedCompletionAt: readInstant(wire[KEYS.expectedCompletionAt]),
    subscriptions: wire[KEYS.subscriptions],
    inFlightCount: wire[KEYS.inFlightCount],
    metadata: wire[KEYS.metadata],
    incarnation: wire[KEYS.incarnation],
    sequence: wire[KEYS.sequence],
  } as ShutdownNotificationProps)
}
