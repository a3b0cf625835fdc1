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
  #isWorking = false
  #toldAt: number | null = null

  constructor(options: LeaderTaskOptions) {
    this.#options = options
  }

  /** For how long work has gone on that was told to end, in seconds; 0 when there is none. */
  get overdueSeconds(): number {
    return this.#toldAt === null ? 0 : this.#options.clock.monotonicSeconds() - this.#toldAt
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
    if (this.#isWorking) this.#toldAt ??= this.#options.clock.monotonicSeconds()
    this.#ending.abort(new CoordinationError('leadership_over', reason))
    return this.#running
  }

  async #run(signal: AbortSignal, term: bigint | null): Promise<void> {
    const { work, longestRetrySeconds, clock, logger, random, fields } = this.#options
    for (let failures = 0; !signal.aborted; ) {
      let pauseSeconds = 0
      this.#isWorking = true
      try {
        await work(signal, term)
        return
      } catch (error) {
        if (signal.aborted) return
        const retryInSeconds = backoffSeconds(++failures, { firstSeconds: 1, longestSeconds: longestRetrySeconds, random })
        logger.error({ ...fields, error, failures, retryInSeconds }, "The leader's work failed; it is started again")
        pauseSeconds = retryInSeconds
      } finally {
        this.#isWorking = false
        this.#toldAt = null
      }
      await sleep(pauseSeconds, { clock, signal }).catch(() => {})
    }
  }
}
