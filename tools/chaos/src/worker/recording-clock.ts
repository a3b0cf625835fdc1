import { type CancelTimer, type Clock, systemClock } from '@es/coordination-core'
import { hostSeconds } from '../host-clock.js'

/** How finely {@link RecordingClock.trueUntil} looks, in seconds. */
const RESOLUTION = 1e-5

/** How a {@link RecordingClock} runs. */
export interface RecordingClockOptions {
  /** Its speed. @default 1 */
  readonly rate?: number
}

/**
 * The clock that the adapters are given. It can tell how long a belief will last: what an adapter believes is computed from the clock at the moment of the
 * question, so it is asked again with the clock put forward.
 *
 * The times that it takes and gives are those of `hostSeconds`, whatever its own speed.
 */
export class RecordingClock implements Clock {
  readonly #startedAt = hostSeconds()
  readonly #rate: number
  #pretendedAt: number | null = null
  /** Called for each timer that is set: an adapter sets one in the step in which its trust changes. */
  onTimer: () => void = () => {}

  constructor({ rate = 1 }: RecordingClockOptions = {}) {
    this.#rate = rate
  }

  now(): Date {
    return systemClock.now()
  }

  monotonicSeconds(): number {
    return (this.#pretendedAt ?? hostSeconds() - this.#startedAt) * this.#rate
  }

  setTimer(delaySeconds: number, callback: () => void): CancelTimer {
    this.onTimer()
    return systemClock.setTimer(delaySeconds / this.#rate, callback)
  }

  /** Whether `belief` will still be held at `at`, if nothing happens until then. `belief` must be a pure question. */
  isTrueAt(at: number, belief: () => boolean): boolean {
    this.#pretendedAt = at - this.#startedAt
    try {
      return belief()
    } finally {
      this.#pretendedAt = null
    }
  }

  /** Until when `belief` will be held, if nothing happens, and at most `horizonSeconds` from now; the present when it is not held now. */
  trueUntil(belief: () => boolean, horizonSeconds: number): number {
    let held = hostSeconds()
    if (!this.isTrueAt(held, belief)) return held
    let over = held + horizonSeconds
    while (over - held > RESOLUTION) {
      const middle = (held + over) / 2
      if (this.isTrueAt(middle, belief)) held = middle
      else over = middle
    }
    return over
  }
}
