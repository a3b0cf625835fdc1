import { nextTick } from 'node:process'
import type { CancelTimer, Clock } from '@es/coordination-core'
import { TimerQueue } from './timer-queue.js'

/** Where a {@link ManualClock} starts. */
export interface ManualClockOptions {
  /**
   * The wall clock at the start. Fixed by default, so that a test that prints a date prints the same one every day.
   * @default 2026-01-01T00:00:00.000Z
   */
  readonly startAt?: Date
}

// Ten steps of 0.1 s add up to a hair less than 1 s: a timer of 1 s is due then all the same.
const ROUNDING_SECONDS = 1e-9

// A timer that sets itself again without delay would keep one advance() running for ever.
const MAX_TIMERS_IN_ONE_INSTANT = 100_000

/**
 * A clock that stands still until {@link advance} is called, so that a test decides what time it is and a simulated week takes a moment.
 *
 * Deterministic: timers fire in the order of their due times, those due at one instant in the order in which they were set, and between
 * two timers every promise continuation that can run does run. Only promises settle in there: timers of Node and answers of sockets
 * do not, because how many of them arrive is a matter of luck. What waits for those needs a real clock and `until`.
 *
 * `monotonicSeconds()` starts at 0.
 */
export class ManualClock implements Clock {
  readonly #startMilliseconds: number
  #elapsedSeconds = 0
  #wallOffsetSeconds = 0
  readonly #timers = new TimerQueue()
  #isAdvancing = false

  constructor({ startAt = new Date('2026-01-01T00:00:00.000Z') }: ManualClockOptions = {}) {
    this.#startMilliseconds = startAt.getTime()
    if (Number.isNaN(this.#startMilliseconds)) throw new RangeError('startAt must be a valid date')
  }

  now(): Date {
    return new Date(this.#startMilliseconds + Math.round((this.#elapsedSeconds + this.#wallOffsetSeconds) * 1000))
  }

  monotonicSeconds(): number {
    return this.#elapsedSeconds
  }

  setTimer(delaySeconds: number, callback: () => void): CancelTimer {
    if (Number.isNaN(delaySeconds)) throw new RangeError('delaySeconds must be a number, got NaN')
    // The very sum that the caller computes for its own deadline, so that the two never differ by a rounding.
    return this.#timers.add(this.#elapsedSeconds + Math.max(delaySeconds, 0), callback)
  }

  /** How many timers are set and have neither fired nor been cancelled. Zero is what a stopped component leaves behind. */
  get pendingTimers(): number {
    return this.#timers.size
  }

  /**
   * Lets `seconds` pass. Before, after and between the timers that fall due, also those set along the way, all promise continuations run. Each
   * timer sees the instant it was due at. `advance(0)` settles promises and fires what is due now.
   *
   * @throws RangeError when `seconds` is negative, infinite or not a number.
   * @throws Error when another `advance` is running, or when timers keep setting timers without delay.
   * @throws whatever a timer's callback throws. The clock stands at that instant then and can be advanced further.
   */
  async advance(seconds: number): Promise<void> {
    if (!(Number.isFinite(seconds) && seconds >= 0)) throw new RangeError(`seconds must be finite and not negative, got ${seconds}`)
    if (this.#isAdvancing) throw new Error('This clock is already advancing: await the earlier advance() first')
    this.#isAdvancing = true
    try {
      await this.#advanceTo(this.#elapsedSeconds + seconds)
    } finally {
      this.#isAdvancing = false
    }
  }

  /** Moves the wall clock alone, as a correction by NTP or an operator does; timers and `monotonicSeconds()` do not notice. May be negative. */
  jumpWallClock(seconds: number): void {
    if (!Number.isFinite(seconds)) throw new RangeError(`seconds must be finite, got ${seconds}`)
    this.#wallOffsetSeconds += seconds
  }

  async #advanceTo(targetSeconds: number): Promise<void> {
    let firedInThisInstant = 0
    await settlePromises()
    for (;;) {
      const timer = this.#timers.takeDue(targetSeconds + ROUNDING_SECONDS)
      if (timer === null) break
      firedInThisInstant = timer.dueSeconds > this.#elapsedSeconds ? 1 : firedInThisInstant + 1
      if (firedInThisInstant > MAX_TIMERS_IN_ONE_INSTANT) {
        throw new Error(
          `More than ${MAX_TIMERS_IN_ONE_INSTANT} timers fired at ${this.#elapsedSeconds} s: one of them sets itself again without delay`,
        )
      }
      this.#elapsedSeconds = Math.max(this.#elapsedSeconds, timer.dueSeconds)
      timer.callback()
      await settlePromises()
    }
    this.#elapsedSeconds = Math.max(this.#elapsedSeconds, targetSeconds)
  }
}

/**
 * Resolves when no promise continuation is left to run, however long the chain. Node runs its tick queue when the queue of continuations
 * is empty, and goes back to the continuations before it looks at timers or sockets.
 */
async function settlePromises(): Promise<void> {
  // Called from a plain macrotask, a tick would come before the continuations; from a continuation it comes after them.
  await Promise.resolve()
  await new Promise<void>((resolve) => nextTick(resolve))
}
