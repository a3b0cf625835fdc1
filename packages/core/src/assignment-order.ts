import type { WorkAssignment } from './work-assignment.js'

/** Heartbeat timeouts of silence after which an epoch does not count any more: a leader repeats its assignments at least once in a timeout. */
export const EPOCH_FORGOTTEN_AFTER_TIMEOUTS = 3

/** Places an assignment among all those of a cluster: by the leader's epoch, then by its count of plans. */
export interface AssignmentStamp {
  readonly epoch: bigint
  readonly revision: number
  /** Monotonic time at which it was last heard. */
  readonly at: number
}

/**
 * Whether an assignment comes too late, after one stamped `than`. One from which nothing was heard for `forgetAfterSeconds` does not count any more: a living
 * leader repeats itself, and tokens start low again where a database was restored, or was failed over. Without this one forged epoch would lock
 * every later leader out, and one forged revision the present one.
 */
export function isOlderAssignment(stamp: AssignmentStamp, than: AssignmentStamp | null | undefined, forgetAfterSeconds: number): boolean {
  if (than == null || stamp.at - than.at >= forgetAfterSeconds) return false
  return stamp.epoch < than.epoch || (stamp.epoch === than.epoch && stamp.revision < than.revision)
}

/**
 * Which assignments are still valid.
 *
 * - A1. An epoch below the last one accepted is refused, also when that one was seen on an assignment to somebody else.
 * - A2. Within an epoch, a revision below the last one accepted *for this instance* is refused: the leader may count on for others only.
 *   The same one again is a repeat, and welcome.
 * - A3. An assignment without epoch (from a leader that knows none) is accepted, as in the reference.
 * - A4. What was not heard for a while does not count any more, see {@link isOlderAssignment}.
 */
export class AssignmentOrder {
  readonly #forgetAfterSeconds: number
  #newest: AssignmentStamp | null = null
  #newestForUs: AssignmentStamp | null = null

  constructor(forgetAfterSeconds: number) {
    this.#forgetAfterSeconds = forgetAfterSeconds
  }

  /** The epoch that was accepted last, whoever it was for: the highest, but for A4. `null` before the first. */
  get highestEpoch(): bigint | null {
    return this.#newest?.epoch ?? null
  }

  /** Judges an assignment that arrived `now` (monotonic) and remembers it if it is accepted. `isForUs` says whether this instance is its target. */
  accept({ epoch, revision }: Pick<WorkAssignment, 'epoch' | 'revision'>, isForUs: boolean, now: number): boolean {
    if (epoch === undefined) return true
    // Revisions for others say nothing about those for this instance.
    const stamp = { epoch, revision: 0, at: now }
    if (isOlderAssignment(stamp, this.#newest, this.#forgetAfterSeconds)) return false
    this.#newest = stamp
    if (!isForUs || revision === undefined) return true
    const ours = { epoch, revision, at: now }
    if (isOlderAssignment(ours, this.#newestForUs, this.#forgetAfterSeconds)) return false
    this.#newestForUs = ours
    return true
  }
}
