import type { WorkAssignment } from './work-assignment.js'

/** Heartbeat timeouts of silence after which an epoch does not count any more: a leader repeats its assignments at least once in a timeout. */
export const EPOCH_FORGOTTEN_AFTER_TIMEOUTS = 3

/**
 * Which assignments are still valid, by the leader's fencing token and its count of plans.
 *
 * - A1. An epoch below the highest one ever seen is refused, also when that one was seen on an assignment to somebody else.
 * - A2. Within an epoch, a revision below the highest one seen *for this instance* is refused: the leader may count on for others only.
 *   The same one again is a repeat, and welcome.
 * - A3. An assignment without epoch (from a leader that knows none) is accepted, as in the reference.
 * - A4. An epoch from which nothing was heard for `forgetAfterSeconds` does not count any more: a living leader repeats itself, and tokens start low again
 *   where a database was restored, or was failed over. Without this one forged epoch would lock every later leader out.
 */
export class AssignmentOrder {
  readonly #forgetAfterSeconds: number
  #epoch: bigint | null = null
  #revision = -1
  #heardAt = Number.NEGATIVE_INFINITY

  constructor(forgetAfterSeconds: number) {
    this.#forgetAfterSeconds = forgetAfterSeconds
  }

  /** The highest epoch seen so far; `null` before the first. */
  get highestEpoch(): bigint | null {
    return this.#epoch
  }

  /** Judges an assignment that arrived `now` (monotonic) and remembers it if it is accepted. `isForUs` says whether this instance is its target. */
  accept({ epoch, revision }: WorkAssignment, isForUs: boolean, now: number): boolean {
    if (epoch === undefined) return true
    if (this.#epoch !== null && epoch < this.#epoch && now - this.#heardAt < this.#forgetAfterSeconds) return false
    this.#heardAt = now
    if (epoch !== this.#epoch) {
      this.#epoch = epoch
      this.#revision = -1
    }
    if (!isForUs || revision === undefined) return true
    if (revision < this.#revision) return false
    this.#revision = revision
    return true
  }
}
