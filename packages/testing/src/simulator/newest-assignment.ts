import { EPOCH_FORGOTTEN_AFTER_TIMEOUTS } from '@es/coordination-core'

type Message = Readonly<Record<string, unknown>>

/** What one instance is to run by the newest assignment that it heard or gave itself. The order is that of epochs, then of revisions. */
export class NewestAssignment {
  readonly #instanceId: string
  readonly #forgetAfterSeconds: number
  #epoch: bigint | null = null
  #revision = -1
  #heardAt = Number.NEGATIVE_INFINITY
  #subscriptions: ReadonlySet<unknown> | null = null

  constructor(instanceId: string, heartbeatTimeoutSeconds: number) {
    this.#instanceId = instanceId
    this.#forgetAfterSeconds = EPOCH_FORGOTTEN_AFTER_TIMEOUTS * heartbeatTimeoutSeconds
  }

  /** The newest epoch, on whosever assignment; `null` before the first. */
  get epoch(): bigint | null {
    return this.#epoch
  }

  /** Takes an assignment to anybody that was heard `now` (monotonic), or said. Returns whether it is for this instance, and comes too late. */
  hear({ target_instance_id: target, subscriptions, epoch: text, revision = 0 }: Message, now: number): boolean {
    if (typeof text !== 'string') return false
    const isMine = target === this.#instanceId
    const epoch = BigInt(text)
    const isForgotten = now - this.#heardAt >= this.#forgetAfterSeconds
    if (this.#epoch !== null && epoch < this.#epoch && !isForgotten) return isMine
    if (epoch !== this.#epoch || isForgotten) this.#revision = -1
    this.#epoch = epoch
    this.#heardAt = now
    if (!isMine) return false
    if (Number(revision) < this.#revision) return true
    this.#revision = Number(revision)
    this.#subscriptions = new Set(subscriptions as readonly unknown[])
    return false
  }

  /** Whether it gives `subscription` to the instance; so does none. */
  gives(subscription: string): boolean {
    return this.#subscriptions?.has(subscription) ?? true
  }
}
