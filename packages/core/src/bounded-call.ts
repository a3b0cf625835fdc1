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

/** How the work of a {@link boundedCall} learns that nobody waits for it any more. */
export interface CallLimit {
  /** Whether the call is over. */
  readonly isOver: boolean
  /** @throws why the call is over, if it is. */
  throwIfOver(): void
  /** Aborts when the call is over. Made when it is asked for: a signal costs more than all the rest of a call. */
  readonly signal: AbortSignal
}

/**
 * Runs `work` for a caller whose patience is bounded. When that ends first, the call rejects at once and the limit given to `work` is
 * over; `work` goes on, and must itself undo what it still achieves. A failure of abandoned work goes unreported. No timer or listener
 * stays behind, so the signals may live for ever (`AbortSignal.any` would gather its results on them).
 *
 * @throws ConnectionError `timed_out` after `timeoutSeconds`.
 * @throws RangeError when `timeoutSeconds` is NaN; `work` is not begun.
 * @throws the reason of the first of `signals` that aborts; `work` is not begun when one already has.
 */
export async function boundedCall<T>(options: BoundedCallOptions, work: (limit: CallLimit) => Promise<T>): Promise<T> {
  const { clock, what, timeoutSeconds, signals = [] } = options
  for (const signal of signals) signal?.throwIfAborted()
  const limit = new Limit()
  const cancelTimer =
    timeoutSeconds === undefined
      ? undefined
      : clock.setTimer(timeoutSeconds, () =>
          limit.end(
            new ConnectionError('timed_out', `${what} took longer than ${timeoutSeconds} s and is given up; look at what keeps it`),
          ),
        )
  // After the timer, which the clock may refuse.
  const giveUp = (event: Event): void => limit.end((event.target as AbortSignal).reason)
  for (const signal of signals) signal?.addEventListener('abort', giveUp)
  try {
    return await new Promise<T>((resolve, reject) => {
      limit.onEnd = reject
      work(limit).then(resolve, reject)
    })
  } finally {
    cancelTimer?.()
    for (const signal of signals) signal?.removeEventListener('abort', giveUp)
  }
}

class Limit implements CallLimit {
  isOver = false
  onEnd: (reason: unknown) => void = () => {}
  #reason: unknown
  #controller: AbortController | null = null

  get signal(): AbortSignal {
    if (this.#controller === null) {
      this.#controller = new AbortController()
      if (this.isOver) this.#controller.abort(this.#reason)
    }
    return this.#controller.signal
  }

  throwIfOver(): void {
    if (this.isOver) throw this.#reason
  }

  end(reason: unknown): void {
    if (this.isOver) return
    this.isOver = true
    this.#reason = reason
    this.onEnd(reason)
    this.#controller?.abort(reason)
  }
}
