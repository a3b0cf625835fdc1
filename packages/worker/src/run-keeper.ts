import { isAbortion } from './abortion.js'
import { type RunEnd, SubscriptionRun } from './subscription-run.js'
import type { WorkEntry } from './work-entry.js'
import type { StopCause, WorkerEvent } from './worker-event.js'
import type { ParsedWorkerOptions } from './worker-options.js'

/** What a {@link RunKeeper} is made of. */
export interface RunKeeperOptions {
  readonly options: ParsedWorkerOptions
  readonly emit: (event: WorkerEvent) => void
  /** A run has ended: what follows is decided anew. */
  readonly settled: () => void
}

/** Starts the runs of subscriptions, tells them to end, gives up on those that do not, and says what became of each. */
export class RunKeeper {
  readonly #options: ParsedWorkerOptions
  readonly #emit: (event: WorkerEvent) => void
  readonly #onSettled: () => void

  constructor({ options, emit, settled }: RunKeeperOptions) {
    this.#options = options
    this.#emit = emit
    this.#onSettled = settled
  }

  start(entry: WorkEntry): void {
    const fencingToken = entry.claim?.fencingToken ?? null
    entry.startedAt = this.#now()
    entry.stopBy = null
    this.#emit({ type: 'run_started', subscription: entry.name, fencingToken })
    const run = new SubscriptionRun(entry.name, fencingToken, this.#options.run)
    entry.run = run
    void run.settled.then((end) => this.#settled(entry, run, end))
  }

  stop(entry: WorkEntry, cause: StopCause): void {
    entry.stopBy ??= this.#now() + this.#options.drainTimeoutSeconds
    entry.run?.stop(cause)
  }

  abandon(entry: WorkEntry): void {
    const { logger, instanceId } = this.#options
    const fencingToken = entry.run?.fencingToken ?? null
    entry.run = null
    entry.stopBy = null
    entry.abandonedRuns++
    logger.error(
      { instanceId, subscription: entry.name },
      'A run did not end in time and is given up; only its fencing token keeps it from doing harm',
    )
    this.#emit({ type: 'run_abandoned', subscription: entry.name, fencingToken })
  }

  #settled(entry: WorkEntry, run: SubscriptionRun, end: RunEnd): void {
    const { subscription, fencingToken } = run
    const { logger, instanceId } = this.#options
    entry.forgive(this.#now(), this.#options)
    if (entry.run !== run) {
      entry.abandonedRuns--
    } else {
      entry.run = null
      entry.stopBy = null
      if (end.cause === null) this.#failed(entry, end.type === 'failed' ? end.error : null)
      else this.#emit({ type: 'run_stopped', subscription, fencingToken, cause: end.cause })
    }
    if (end.type === 'failed' && end.cause !== null && !isAbortion(end.error)) {
      logger.warn({ instanceId, subscription, error: end.error }, 'A run failed while it was ending')
    }
    this.#onSettled()
  }

  #failed(entry: WorkEntry, error: unknown): void {
    const { logger, instanceId } = this.#options
    const retryInSeconds = entry.failed(error, this.#now(), this.#options)
    const { name: subscription, failures } = entry
    const what = error === null ? 'A run ended without having been told to' : 'A run failed'
    const next = retryInSeconds === null ? 'another instance should try' : 'it is started again'
    logger.error({ instanceId, subscription, error, failures }, `${what}; ${next}`)
    this.#emit({ type: 'run_failed', subscription, error, failures, retryInSeconds })
  }

  #now(): number {
    return this.#options.clock.monotonicSeconds()
  }
}
