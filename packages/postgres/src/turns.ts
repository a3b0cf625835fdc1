/** Runs tasks one at a time, in the order in which they asked. */
export class Turns {
  #last: Promise<void> = Promise.resolve()
  #waiting = 0

  /** Whether nothing is running or waiting. */
  get isIdle(): boolean {
    return this.#waiting === 0
  }

  /** Runs `task` when all earlier ones have settled, and settles as it does. An idle queue starts it before this returns. */
  async take<T>(task: () => Promise<T>): Promise<T> {
    // The turn is taken before the task runs: its first lines may end in a callback that asks for the next turn.
    const earlier = this.#waiting++ === 0 ? null : this.#last
    let finish: () => void = () => {}
    this.#last = new Promise((resolve) => {
      finish = resolve
    })
    if (earlier !== null) await earlier
    try {
      return await task()
    } finally {
      this.#waiting--
      finish()
    }
  }
}
