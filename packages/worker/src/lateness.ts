import type { CancelTimer, Clock } from '@es/coordination-core'

/** How lateness is measured. */
export interface LatenessOptions {
  readonly clock: Clock
  /** A process that could not run for this long cannot tell whether its peers were silent. */
  readonly lateAfterSeconds: number
  /** How long after waking it listens before it judges anybody. */
  readonly recoverySeconds: number
}

/** Measures how late this process runs its own timers: a busy event loop, a stopped process, a suspended machine. */
export class Lateness {
  readonly #options: LatenessOptions
  readonly #intervalSeconds: number
  #cancel: CancelTimer = () => {}
  #dueAt = Number.POSITIVE_INFINITY
  #lateUntil = Number.NEGATIVE_INFINITY
  #lastDelaySeconds = 0

  constructor(options: LatenessOptions) {
    this.#options = options
    this.#intervalSeconds = options.lateAfterSeconds / 4
  }

  start(): void {
    this.#cancel()
    this.#dueAt = this.#now() + this.#intervalSeconds
    this.#cancel = this.#options.clock.setTimer(this.#intervalSeconds, () => {
      this.#look()
      this.start()
    })
  }

  stop(): void {
    this.#cancel()
    this.#dueAt = Number.POSITIVE_INFINITY
  }

  /** Whether this process was late a moment ago; computed, so it is already true on the first line that runs after a pause. */
  get isLate(): boolean {
    this.#look()
    return this.#now() < this.#lateUntil
  }

  /** By how much the last measured delay missed its time, in seconds. */
  get lastDelaySeconds(): number {
    return this.#lastDelaySeconds
  }

  #look(): void {
    const now = this.#now()
    if (now < this.#dueAt) return
    this.#lastDelaySeconds = now - this.#dueAt
    if (this.#lastDelaySeconds >= this.#options.lateAfterSeconds) this.#lateUntil = now + this.#options.recoverySeconds
  }

  #now(): number {
    return this.#options.clock.monotonicSeconds()
  }
}
