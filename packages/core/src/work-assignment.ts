import { z } from 'zod'
import { formatInstant } from './instant.js'
import { checkMessage, field, readEpoch, readInstant, readMessage } from './message-schema.js'

const TYPE = 'WorkAssignment'

const schema = z.object({
  targetInstanceId: field.name,
  subscriptions: field.requiredSubscriptions,
  sourceInstanceId: field.name,
  assignedAt: field.instant,
  priority: field.integer.default(0),
  epoch: field.epoch.optional(),
  revision: field.count.optional(),
})

const KEYS = {
  targetInstanceId: 'target_instance_id',
  subscriptions: 'subscriptions',
  sourceInstanceId: 'source_instance_id',
  assignedAt: 'assigned_at',
  priority: 'priority',
  epoch: 'epoch',
  revision: 'revision',
} as const

/** What a {@link WorkAssignment} is made of. The properties mean what the fields of the message do. */
export interface WorkAssignmentProps {
  readonly targetInstanceId: string
  readonly subscriptions: readonly string[]
  readonly sourceInstanceId: string
  readonly assignedAt: Date
  /** @default 0 */
  readonly priority?: number | undefined
  readonly epoch?: bigint | undefined
  readonly revision?: number | undefined
}

/** A {@link WorkAssignment} on the wire. The keys mean what the fields of the message do; the instant is text, the epoch decimal text. */
export interface WorkAssignmentDict {
  readonly target_instance_id: string
  readonly subscriptions: readonly string[]
  readonly source_instance_id: string
  readonly assigned_at: string
  readonly priority: number
  readonly epoch?: string
  readonly revision?: number
}

/**
 * "This is what you shall run." Sent by the leader, one for each target. Frozen.
 * The reference's message of the same name, with two optional additions that an older reader skips.
 */
export class WorkAssignment {
  /** Whom it is for: 1 to {@link MAX_NAME_LENGTH} UTF-16 units of well-formed Unicode. */
  readonly targetInstanceId: string
  /** What the target shall run: at most {@link MAX_SUBSCRIPTIONS} names, each once, in the sender's order. Frozen. */
  readonly subscriptions: readonly string[]
  /** Where the work comes from. */
  readonly sourceInstanceId: string
  /** When it was made, by the sender's wall clock, to the millisecond. */
  readonly assignedAt: Date
  /** Higher is more urgent; may be negative. */
  readonly priority: number
  /** Addition: the leader's fencing token, so that an assignment of a former leader is refused. Decimal text on the wire. */
  readonly epoch: bigint | undefined
  /** Addition: number of the plan within the epoch, so that a late assignment of the same leader is refused. */
  readonly revision: number | undefined

  /** @throws InvalidMessageError when a property is off, so that nobody sends what others would refuse. Paths are property names. */
  constructor(props: WorkAssignmentProps) {
    const checked = checkMessage(TYPE, schema, props)
    this.targetInstanceId = checked.targetInstanceId
    this.subscriptions = checked.subscriptions
    this.sourceInstanceId = checked.sourceInstanceId
    this.assignedAt = new Date(checked.assignedAt)
    // Adding 0 turns -0, which JSON cannot write, into 0.
    this.priority = checked.priority + 0
    this.epoch = checked.epoch
    this.revision = checked.revision === undefined ? undefined : checked.revision + 0
    Object.freeze(this)
  }

  /**
   * Reads a message off the wire. Unknown keys are ignored and absent optional keys have the reference's defaults; a key that is `null` is
   * off. Digits of the instant after the milliseconds are cut.
   *
   * @throws InvalidMessageError for anything else, with the keys on the wire as paths.
   */
  static fromDict(dict: unknown): WorkAssignment {
    return readMessage(TYPE, KEYS, dict, read)
  }

  /** The message on the wire: the reference's keys in its order, then those of our additions that are set. */
  toDict(): WorkAssignmentDict {
    return {
      target_instance_id: this.targetInstanceId,
      subscriptions: this.subscriptions,
      source_instance_id: this.sourceInstanceId,
      assigned_at: formatInstant(this.assignedAt),
      priority: this.priority,
      ...(this.epoch === undefined ? undefined : { epoch: this.epoch.toString() }),
      ...(this.revision === undefined ? undefined : { revision: this.revision }),
    }
  }
}

function read(wire: Readonly<Record<string, unknown>>): WorkAssignment {
  // The constructor refuses what does not have the claimed type.
  return new WorkAssignment({
    targetInstanceId: wire[KEYS.targetInstanceId],
    subscriptions: wire[KEYS.subscriptions],
    sourceInstanceId: wire[KEYS.sourceInstanceId],
    assignedAt: readInstant(wire[KEYS.assignedAt]),
    priority: wire[KEYS.priority],
    epoch: readEpoch(wire[KEYS.epoch]),
    revision: wire[KEYS.revision],
  } as WorkAssignmentProps)
}
