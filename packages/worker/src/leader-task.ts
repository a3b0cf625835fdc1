import { boundedCall, type Clock, CoordinationError, type LogFields, type Logger } from '@es/coordination-core'
import { isAbortion } from './abortion.js'
import type { LeaderWork } from './worker-options.js'

/** What a {@link LeaderTask} is made of. */
export interface LeaderTaskOptions {
  /** Must not throw before its signal aborts. */
  readonly work: LeaderWork
  readonly clock: Clock
  readonly logger: Logger
  readonly fields: LogFields
}

/** Work that runs while this instance leads: once a term, and never twice at a time in this process. */
export class LeaderTask {
  readonly #options: LeaderTaskOptions
  #ending = new AbortController()
  #running: Promise<void> = Promise.resolve()
  #isWorking = false
  #toldAt: number | null = null

  constructor(options: LeaderTaskOptions) {
    this.#options = options
  }

  /** Whether work goes on that was told to end. */
  get isEnding(): boolean {
    return this.#toldAt !== null
  }

  /** For how long work has gone on that was told to end, in seconds; 0 when there is none. */
  get overdueSeconds(): number {
    return this.#toldAt === null ? 0 : this.#options.clock.monotonicSeconds() - this.#toldAt
  }

  /** Begins the work of a term, once that of the term before has ended. */
  begin(term: bigint | null): void {
    this.end('Another term begins')
    const ending = new AbortController()
    this.#ending = ending
    this.#running = this.#running.then(() => this.#run(ending.signal, term))
  }

  /** Tells the work to end. */
  end(reason: string): void {
    if (this.#isWorking) this.#toldAt ??= this.#options.clock.monotonicSeconds()
    this.#ending.abort(new CoordinationError('leadership_over', reason))
  }

  /** Tells the work to end. Resolves when it has, or after `timeoutSeconds`, when it is reported and given up; never rejects. */
  async endWithin(timeoutSeconds: number, reason: string): Promise<void> {
    const { clock, logger, fields } = this.#options
    this.end(reason)
    try {
      await boundedCall({ clock, what: "Ending the leader's work", timeoutSeconds }, () => this.#running)
    } catch (error) {
      logger.error({ ...fields, error }, "The leader's work does not end and is given up; only its fencing token keeps it from doing harm")
    }
  }

  async #run(signal: AbortSignal, term: bigint | null): Promise<void> {
    if (signal.aborted) return
    const { work, logger, fields } = this.#options
    this.#isWorking = true
    try {
      await work(signal, term)
    } catch (error) {
      if (!isAbortion(error)) logger.warn({ ...fields, error }, "The leader's work failed while it was ending")
    } finally {
      this.#isWorking = false
      this.#toldAt = null
    }
  }
}
