import { CoordinationError } from '@es/coordination-core'
import type { StopCause } from './worker-event.js'
import type { Run } from './worker-options.js'

/** How a run ended. `cause`: what it had been told; `null` when it ended by itself. */
export type RunEnd =
  | { readonly type: 'returned'; readonly cause: StopCause | null }
  /** `error`: what it threw, never null. */
  | { readonly type: 'failed'; readonly cause: StopCause | null; readonly error: unknown }

const REASONS: Readonly<Record<StopCause, string>> = {
  revoked: 'The subscription goes to another instance: finish what is in flight, write the checkpoint, return',
  stopping: 'The worker stops: finish what is in flight, write the checkpoint, return',
  lost: 'The claim is lost, or this instance is cut off: stop at once and write nothing, somebody else may own the subscription',
}

/** One call of the user's `run`: from the start until it settles, told to stop at most once a cause. */
export class SubscriptionRun {
  readonly subscription: string
  readonly fencingToken: bigint | null
  /** Never rejects. */
  readonly settled: Promise<RunEnd>
  readonly #stop = new AbortController()
  readonly #lost = new AbortController()
  #cause: StopCause | null = null

  /** Calls `run` in a moment, unless the run is told to stop before. */
  constructor(subscription: string, fencingToken: bigint | null, run: Run) {
    this.subscription = subscription
    this.fencingToken = fencingToken
    this.settled = this.#call(run)
  }

  /** What it was told; `null` when nothing. */
  get cause(): StopCause | null {
    return this.#cause
  }

  /** Tells the run to stop. Only `lost` adds anything to a run that was told already. */
  stop(cause: StopCause): void {
    const reason = new CoordinationError(`run_${cause}`, `${REASONS[cause]} (${this.subscription})`)
    if (this.#cause === null || cause === 'lost') this.#cause = cause
    if (cause === 'lost') this.#lost.abort(reason)
    this.#stop.abort(reason)
  }

  async #call(run: Run): Promise<RunEnd> {
    // Never inside the step that starts it: the user's code may call back into the worker.
    await Promise.resolve()
    if (this.#stop.signal.aborted) return { type: 'returned', cause: this.#cause }
    const context = { signal: this.#stop.signal, lost: this.#lost.signal, fencingToken: this.fencingToken }
    try {
      await run(this.subscription, context)
      return { type: 'returned', cause: this.#cause }
    } catch (error) {
      return { type: 'failed', cause: this.#cause, error: error ?? new Error(`The run threw ${error}, or rejected with it`) }
    }
  }
}
