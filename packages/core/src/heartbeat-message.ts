import { z } from 'zod'
import { systemClock } from './clock.js'
import { formatInstant } from './instant.js'
import { checkMessage, field, readInstant, readMessage } from './message-schema.js'

const TYPE = 'HeartbeatMessage'

const schema = z.object({
  instanceId: field.name,
  timestamp: field.instant,
  subscriptions: field.subscriptions,
  inFlightCount: field.count.default(0),
  isLeader: field.flag.default(false),
  loadFactor: field.fraction.default(0),
  incarnation: field.name.optional(),
  sequence: field.count.optional(),
  capacity: field.weight.optional(),
  declined: field.subscriptions,
})

const KEYS = {
  instanceId: 'instance_id',
  timestamp: 'timestamp',
  subscriptions: 'subscriptions',
  inFlightCount: 'in_flight_count',
  isLeader: 'is_leader',
  loadFactor: 'load_factor',
  incarnation: 'incarnation',
  sequence: 'sequence',
  capacity: 'capacity',
  declined: 'declined',
} as const

/** What a {@link HeartbeatMessage} is made of. The properties mean what the fields of the message do. */
export interface HeartbeatMessageProps {
  readonly instanceId: string
  readonly timestamp: Date
  /** @default [] */
  readonly subscriptions?: readonly string[] | undefined
  /** @default 0 */
  readonly inFlightCount?: number | undefined
  /** @default false */
  readonly isLeader?: boolean | undefined
  /** @default 0 */
  readonly loadFactor?: number | undefined
  readonly incarnation?: string | undefined
  readonly sequence?: number | undefined
  readonly capacity?: number | undefined
  /** @default [] */
  readonly declined?: readonly string[] | undefined
}

/** A {@link HeartbeatMessage} on the wire. The keys mean what the fields of the message do; instants are text, such as `2026-03-01T12:00:00.000+00:00`. */
export interface HeartbeatDict {
  readonly instance_id: string
  readonly timestamp: string
  readonly subscriptions: readonly string[]
  readonly in_flight_count: number
  readonly is_leader: boolean
  readonly load_factor: number
  readonly incarnation?: string
  readonly sequence?: number
  readonly capacity?: number
  readonly declined?: readonly string[]
}

/**
 * "I am alive, and this is what I run." Sent by every instance on an interval, also when idle: silence is taken for death. Frozen.
 * The reference's message of the same name, with optional additions that an older reader skips.
 */
export class HeartbeatMessage {
  /** Who sends it: 1 to {@link MAX_NAME_LENGTH} UTF-16 units of well-formed Unicode. */
  readonly instanceId: string
  /** When it was made, by the sender's wall clock, to the millisecond. */
  readonly timestamp: Date
  /** What the sender runs: at most {@link MAX_SUBSCRIPTIONS} names, each once, in the sender's order. Frozen. */
  readonly subscriptions: readonly string[]
  /** Events being handled at this moment. */
  readonly inFlightCount: number
  /** The sender's own view of its leadership. */
  readonly isLeader: boolean
  /** The sender's load, from 0 to 1. */
  readonly loadFactor: number
  /** Addition: names this run of the instance, so that a restart can be told from a late message. */
  readonly incarnation: string | undefined
  /** Addition: counts the messages of one incarnation, notifications included. */
  readonly sequence: number | undefined
  /** Addition: the most work that the sender takes, in total weight; `undefined` for no limit. */
  readonly capacity: number | undefined
  /** Addition: subscriptions that the sender cannot run, now or ever. At most {@link MAX_SUBSCRIPTIONS}. Frozen. */
  readonly declined: readonly string[]

  /** @throws InvalidMessageError when a property is off, so that nobody sends what others would refuse. Paths are property names. */
  constructor(props: HeartbeatMessageProps) {
    const checked = checkMessage(TYPE, schema, props)
    this.instanceId = checked.instanceId
    this.timestamp = new Date(checked.timestamp)
    this.subscriptions = checked.subscriptions
    // Adding 0 turns -0, which JSON cannot write, into 0.
    this.inFlightCount = checked.inFlightCount + 0
    this.isLeader = checked.isLeader
    this.loadFactor = checked.loadFactor + 0
    this.incarnation = checked.incarnation
    this.sequence = checked.sequence === undefined ? undefined : checked.sequence + 0
    this.capacity = checked.capacity === undefined ? undefined : checked.capacity + 0
    this.declined = checked.declined
    Object.freeze(this)
  }

  /**
   * Reads a message off the wire. Unknown keys are ignored and absent optional keys have the reference's defaults; a key that is `null` is
   * off. Digits of the timestamp after the milliseconds are cut.
   *
   * @throws InvalidMessageError for anything else, with the keys on the wire as paths.
   */
  static fromDict(dict: unknown): HeartbeatMessage {
    return readMessage(TYPE, KEYS, dict, read)
  }

  /** The message on the wire: the reference's keys in its order, then those of our additions that are set. */
  toDict(): HeartbeatDict {
    return {
      instance_id: this.instanceId,
      timestamp: formatInstant(this.timestamp),
      subscriptions: this.subscriptions,
      in_flight_count: this.inFlightCount,
      is_leader: this.isLeader,
      load_factor: this.loadFactor,
      ...(this.incarnation === undefined ? undefined : { incarnation: this.incarnation }),
      ...(this.sequence === undefined ? undefined : { sequence: this.sequence }),
      ...(this.capacity === undefined ? undefined : { capacity: this.capacity }),
      ...(this.declined.length === 0 ? undefined : { declined: this.declined }),
    }
  }

  /**
   * Whether the message is older than `maxAgeSeconds` at `now`, by the sender's stamp; exactly that old is not stale. As in the
   * reference it compares two machines' clocks, which is why the coordinator does not use it.
   */
  isStale(maxAgeSeconds = 15, now: Date = systemClock.now()): boolean {
    return now.getTime() - this.timestamp.getTime() > maxAgeSeconds * 1000
  }
}

function read(wire: Readonly<Record<string, unknown>>): HeartbeatMessage {
  // The constructor refuses what does not have the claimed type.
  return new HeartbeatMessage({
    instanceId: wire[KEYS.instanceId],
    timestamp: readInstant(wire[KEYS.timestamp]),
    subscriptions: wire[KEYS.subscriptions],
    inFlightCount: wire[KEYS.inFlightCount],
    isLeader: wire[KEYS.isLeader],
    loadFactor: wire[KEYS.loadFactor],
    incarnation: wire[KEYS.incarnation],
    sequence: wire[KEYS.sequence],
    capacity: wire[KEYS.capacity],
    declined: wire[KEYS.declined],
  } as HeartbeatMessageProps)
}
