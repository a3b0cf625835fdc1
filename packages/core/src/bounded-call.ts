import type { Clock } from './clock.js'
import { ConnectionError } from './errors.js'

/** How long a caller is willing to wait. */
export interface BoundedCallOptions {
  readonly clock: Clock
  /** What is called, for the message of the timeout. */
  readonly what: string
  /**
   * How long the caller waits, in seconds.
   * @default no limit
   */
  readonly timeoutSeconds?: number | undefined
  /** Any of these ends the call. */
  readonly signals?: readonly (AbortSignal | undefined)[]
}

/**
 * Runs `work` for a caller whose patience is bounded. When that ends first, the call rejects at once and the signal given to `work` is
 * aborted; `work` goes on, and must itself undo what it still achieves. A failure of abandoned work goes unreported. No timer or listener
 * stays behind, so the signals may live for ever (`AbortSignal.any` would gather its results on them).
 *
 * @throws ConnectionError `timed_out` after `timeoutSeconds`.
 * @throws RangeError when `timeoutSeconds` is NaN; `work` is not begun.
 * @throws the reason of the first of `signals` that aborts; `work` is not begun when one already has.
 */
export async function boundedCall<T>(options: BoundedCallOptions, work: (over: AbortSignal) => Promise<T>): Promise<T> {
  const { clock, what, timeoutSeconds, signals = [] } = options
  for (const signal of signals) signal?.throwIfAborted()
  const over = new AbortController()
  const cancelTimer =
    timeoutSeconds === undefined
      ? undefined
      : clock.setTimer(timeoutSeconds, () =>
          over.abort(
            new ConnectionError('timed_out', `${what} took longer than ${timeoutSeconds} s and is given up; look at what keeps it`),
          ),
        )
  // After the timer, which the clock may refuse.
  const giveUp = (event: Event): void => over.abort((event.target as AbortSignal).reason)
  for (const signal of signals) signal?.addEventListener('abort', giveUp)
  try {
    return await new Promise<T>((resolve, reject) => {
      over.signal.addEventListener('abort', () => reject(over.signal.reason))
      work(over.signal).then(resolve, reject)
    })
  } finally {
    cancelTimer?.()
    for (const signal of signals) signal?.removeEventListener('abort', giveUp)
  }
}
