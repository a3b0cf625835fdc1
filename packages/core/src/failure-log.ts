import type { Clock } from './clock.js'
import { errorMessage } from './errors.js'
import type { LogFields, Logger } from './logger.js'

/** What a {@link FailureLog} is made of. */
export interface FailureLogOptions {
  /** What fails, as the start of a sentence: `Reaching the election backend`. */
  readonly what: string
  readonly clock: Clock
  /** Must not throw, see `safeLogger`. */
  readonly logger: Logger
  /** Goes into every line. */
  readonly fields: LogFields
  /**
   * An outage is reported when it begins, when its error changes, when it ends, and in between once in this many seconds.
   * @default 30
   */
  readonly summaryEverySeconds?: number
}

/** Reports an outage in a handful of lines, however often it is retried. */
export class FailureLog {
  readonly #options: FailureLogOptions
  #outage: { readonly since: number; failures: number; reportedAt: number; message: string } | null = null

  constructor(options: FailureLogOptions) {
    this.#options = options
  }

  /** Call after every failure: reports it, or counts it for the next report. Never throws. */
  failed(error: unknown): void {
    const { what, clock, logger, fields, summaryEverySeconds = 30 } = this.#options
    const now = clock.monotonicSeconds()
    const message = errorMessage(error)
    this.#outage ??= { since: now, failures: 0, reportedAt: Number.NEGATIVE_INFINITY, message: '' }
    this.#outage.failures++
    if (message === this.#outage.message && now - this.#outage.reportedAt < summaryEverySeconds) return
    this.#outage.reportedAt = now
    this.#outage.message = message
    logger.warn(
      { ...fields, error, failures: this.#outage.failures, failingForSeconds: now - this.#outage.since },
      `${what} fails: ${message}`,
    )
  }

  /** Call after every success: reports the end of an outage, if there was one. */
  succeeded(): void {
    if (this.#outage === null) return
    const { what, clock, logger, fields } = this.#options
    const { failures, since } = this.#outage
    this.#outage = null
    logger.info({ ...fields, failures, failedForSeconds: clock.monotonicSeconds() - since }, `${what} works again`)
  }
}
