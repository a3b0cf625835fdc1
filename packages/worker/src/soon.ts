import type { CancelTimer, Clock } from '@es/coordination-core'

/** Calls a task in a moment, once for however many times it was asked meanwhile; or at a later time that was asked for, if nothing comes first. */
export class Soon {
  readonly #clock: Clock
  readonly #task: () => void
  #cancel: CancelTimer | null = null
  #dueAt = Number.POSITIVE_INFINITY
  #isStopped = false

  /** @param task must not throw. */
  constructor(clock: Clock, task: () => void) {
    this.#clock = clock
    this.#task = task
  }

  /** Calls the task after `delaySeconds`, or earlier if that was asked before. */
  ask(delaySeconds = 0): void {
    const dueAt = this.#clock.monotonicSeconds() + delaySeconds
    if (this.#isStopped || dueAt >= this.#dueAt) return
    this.#cancel?.()
    this.#dueAt = dueAt
    this.#cancel = this.#clock.setTimer(delaySeconds, () => {
      this.#dueAt = Number.POSITIVE_INFINITY
      this.#cancel = null
      this.#task()
    })
  }

  /** Calls the task no more. */
  stop(): void {
    this.#isStopped = true
    this.#cancel?.()
    this.#cancel = null
  }
}
