import { until } from '@es/coordination-testing'

const WITHIN_SECONDS = 60

/** Keeps two faults from being done to one worker at the same time. */
export class SlotReservations {
  readonly #signal: AbortSignal
  readonly #taken = new Set<number>()

  /** @param signal ends every wait. */
  constructor(signal: AbortSignal) {
    this.#signal = signal
  }

  /** Runs `work` with the first of `preferred` that nobody has, and with no other; waits until there is one. @throws the signal's reason. */
  async with<T>(preferred: () => readonly number[], work: (slot: number) => Promise<T>): Promise<T> {
    const [slot] = await until(() => this.#take(preferred()), {
      what: 'a worker that nothing else is done to',
      withinSeconds: WITHIN_SECONDS,
    })
    try {
      this.#signal.throwIfAborted()
      return await work(slot)
    } finally {
      this.#taken.delete(slot)
    }
  }

  #take(preferred: readonly number[]): readonly [number] | null {
    // Whoever waits is woken with any slot, and told then.
    if (this.#signal.aborted) return [-1]
    const slot = preferred.find((each) => !this.#taken.has(each))
    if (slot === undefined) return null
    this.#taken.add(slot)
    return [slot]
  }
}
