/** Stops a timer; harmless when it already fired or was stopped. */
export type CancelTimer = () => void

/**
 * Time as this project sees it. Everything that waits or measures takes a `Clock`, so that tests and simulations decide
 * what time it is.
 */
export interface Clock {
  /** The wall clock. For stamping messages only: it may jump, and two machines never agree on it. */
  now(): Date
  /** Seconds since an arbitrary start; never goes back and is not moved by changes of the wall clock. For every duration and deadline. */
  monotonicSeconds(): number
  /**
   * Calls `callback` once, no sooner than `delaySeconds` from now and never synchronously. A delay of any length is honoured (Node
   * alone would fire one above 2^31-1 ms at once); a negative one counts as zero. A pending timer keeps a Node process alive.
   *
   * @throws RangeError when `delaySeconds` is NaN.
   */
  setTimer(delaySeconds: number, callback: () => void): CancelTimer
}

// Longer delays overflow the 32-bit milliseconds of Node's timers and fire after 1 ms.
const LONGEST_NODE_TIMER_SECONDS = 2 ** 31 / 1000 - 1

/** The machine's own clock: the default everywhere, and one of the only two doors from this package to the outside. */
export const systemClock: Clock = {
  now: () => new Date(),
  monotonicSeconds: () => performance.now() / 1000,
  setTimer(delaySeconds, callback) {
    if (Number.isNaN(delaySeconds)) throw new RangeError('delaySeconds must be a number, got NaN')
    const dueAt = performance.now() / 1000 + delaySeconds
    let handle: ReturnType<typeof setTimeout>
    const arm = (seconds: number): void => {
      handle = setTimeout(
        () => {
          const left = dueAt - performance.now() / 1000
          // Node rounds down to whole milliseconds, so a timer may fire a fraction early.
          if (left > 0) arm(left)
          else callback()
        },
        Math.ceil(Math.min(Math.max(seconds, 0), LONGEST_NODE_TIMER_SECONDS) * 1000),
      )
    }
    arm(delaySeconds)
    return () => clearTimeout(handle)
  },
}
