import type { Clock } from '@es/coordination-core'
import { Soon } from './soon.js'

/**
 * Calls a task at once when it is asked for, but never more often than once in `pauseSeconds`: what was asked for meanwhile is done after the pause. For
 * what strangers on the bus can ask for as often as they like.
 */
export class Paced {
  readonly #clock: Clock
  readonly #pauseSeconds: number
  readonly #task: () => void
  readonly #soon: Soon
  #mayRunAt = Number.NEGATIVE_INFINITY

  /** @param task must not throw. */
  constructor(clock: Clock, pauseSeconds: number, task: () => void) {
    this.#clock = clock
    this.#pauseSeconds = pauseSeconds
    this.#task = task
    this.#soon = new Soon(clock, () => this.#run())
  }

  ask(): void {
    const waitSeconds = this.#mayRunAt - this.#clock.monotonicSeconds()
    if (waitSeconds > 0) this.#soon.ask(waitSeconds)
    else this.#run()
  }

  /** Calls the task no more, but for who asks at a time when it may run. */
  stop(): void {
    this.#soon.stop()
  }

  #run(): void {
    this.#mayRunAt = this.#clock.monotonicSeconds() + this.#pauseSeconds
    this.#task()
  }
}
