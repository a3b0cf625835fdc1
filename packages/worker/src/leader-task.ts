import { backoffSeconds, type Clock, CoordinationError, type Logger, sleep } from '@es/coordination-core'
import type { LeaderWork } from './worker-options.js'

/** What a {@link LeaderTask} is made of. */
export interface LeaderTaskOptions {
  readonly work: LeaderWork
  readonly longestRetrySeconds: number
  readonly clock: Clock
  readonly logger: Logger
  readonly random: () => number
  readonly fields: Readonly<Record<string, unknown>>
}

/** Work that runs while this instance leads: once a term, started again after it threw, and never twice at a time in this process. */
export class LeaderTask {
  readonly #options: LeaderTaskOptions
  #ending = new AbortController()
  #running: Promise<void> = Promise.resolve()

  constructor(options: LeaderTaskOptions) {
    this.#options = options
  }

  /** Begins the work of a term, once that of the term before has ended. */
  begin(term: bigint | null): void {
    void this.end('Another term begins')
    const ending = new AbortController()
    this.#ending = ending
    this.#running = this.#running.then(() => this.#run(ending.signal, term))
  }

  /** Tells the work to end. Resolves when it has; never rejects. */
  end(reason: string): Promise<void> {
    this.#ending.abort(new CoordinationError('leadership_over', reason))
    return this.#running
  }

  async #run(signal: AbortSignal, term: bigint | null): Promise<void> {
    const { work, longestRetrySeconds, clock, logger, random, fields } = this.#options
    for (let failures = 0; !signal.aborted; ) {
      try {
        await work(signal, term)
        return
      } catch (error) {
        if (signal.aborted) return
        const retryInSeconds = backoffSeconds(++failures, { firstSeconds: 1, longestSeconds: longestRetrySeconds, random })
        logger.error({ ...fields, error, failures, retryInSeconds }, "The leader's work failed; it is started again")
        await sleep(retryInSeconds, { clock, signal }).catch(() => {})
      }
    }
  }
}
