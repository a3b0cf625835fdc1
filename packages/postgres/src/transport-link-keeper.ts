import {
  backoffSeconds,
  type CancelTimer,
  type Clock,
  ConnectionError,
  FailureLog,
  type LogFields,
  type Logger,
  sleep,
} from '@es/coordination-core'
import type { TransportLink } from './transport-link.js'

/** What a {@link TransportLinkKeeper} is made of. */
export interface TransportLinkKeeperOptions {
  /** Opens a link that is ready for use. Rejects with a ConnectionError, at once when `signal` aborts. */
  readonly open: (signal: AbortSignal) => Promise<TransportLink>
  /** A link was opened; `isAgain` tells that another one was lost before. Must not throw. */
  readonly onOpen: (isAgain: boolean) => void
  /** The link has just proved to work. Must not throw. */
  readonly onHealthy: () => void
  readonly healthCheckSeconds: number
  readonly longestRetrySeconds: number
  readonly random: () => number
  readonly clock: Clock
  /** Must not throw, see `safeLogger`. */
  readonly logger: Logger
  readonly fields: LogFields
}

/**
 * Keeps one link open from the first {@link ready} on: checks it, and opens another one when it is lost.
 *
 * The first attempt after a loss is made at once, unless the lost link had not yet passed a regular health check: links that are
 * opened and lost again in quick succession are backed off from like failures to connect.
 */
export class TransportLinkKeeper {
  readonly #options: TransportLinkKeeperOptions
  readonly #closing = new AbortController()
  readonly #outage: FailureLog
  #link: TransportLink | null = null
  #attempt: Promise<TransportLink> | null = null
  /** Why there is no link, while the next attempt is being waited for. */
  #waitingBecause: unknown = null
  #hasLost = false
  /** Failures in a row, lost links that had never proved to work included. */
  #failures = 0
  #cancelHealthCheck: CancelTimer = () => {}

  constructor(options: TransportLinkKeeperOptions) {
    this.#options = options
    this.#outage = new FailureLog({ what: 'The transport connection', ...options })
  }

  /** The open link, `null` when there is none at the moment. */
  get current(): TransportLink | null {
    return this.#link
  }

  /**
   * The open link; waits for an attempt under way, and makes the first.
   *
   * @throws ConnectionError at once while the link is lost and the next attempt is being waited for; `closed` after {@link close}.
   */
  async ready(): Promise<TransportLink> {
    this.#closing.signal.throwIfAborted()
    if (this.#link !== null) return this.#link
    if (this.#attempt === null && this.#waitingBecause !== null) {
      throw new ConnectionError('unreachable', 'The transport is not connected at the moment; it keeps trying', {
        cause: this.#waitingBecause,
      })
    }
    return await this.#open()
  }

  /** Ends the link and all attempts. Never rejects; bounded by the request timeout. */
  async close(): Promise<void> {
    this.#closing.abort(new ConnectionError('closed', 'The transport was closed'))
    this.#cancelHealthCheck()
    const link = this.#link
    this.#link = null
    await Promise.all([link?.end(), this.#attempt?.catch(() => {})])
  }

  #open(): Promise<TransportLink> {
    // Over before anything else can happen: a link may be lost in the very moment in which it is opened.
    this.#attempt ??= this.#options.open(this.#closing.signal).then(
      (link) => {
        this.#attempt = null
        return this.#adopt(link)
      },
      (error: unknown) => {
        this.#attempt = null
        throw error
      },
    )
    return this.#attempt
  }

  #adopt(link: TransportLink): TransportLink {
    if (this.#closing.signal.aborted) {
      link.destroy(this.#closing.signal.reason)
      throw this.#closing.signal.reason
    }
    this.#link = link
    this.#waitingBecause = null
    void link.ended.then((reason) => {
      if (this.#link === link) this.#lost(reason)
    })
    this.#scheduleHealthCheck(link, { provenAt: this.#options.clock.monotonicSeconds(), isFirst: true })
    this.#options.onOpen(this.#hasLost)
    return link
  }

  #lost(reason: Error): void {
    this.#link = null
    this.#hasLost = true
    this.#cancelHealthCheck()
    this.#outage.failed(reason)
    void this.#reopen(reason)
  }

  /** Never rejects; ends with a link, or when closed. */
  async #reopen(lostBecause: Error): Promise<void> {
    const { clock, longestRetrySeconds, random } = this.#options
    const signal = this.#closing.signal
    let because: unknown = lostBecause
    for (;;) {
      try {
        if (this.#failures > 0) {
          this.#waitingBecause = because
          await sleep(backoffSeconds(this.#failures, { firstSeconds: 0.5, longestSeconds: longestRetrySeconds, random }), { clock, signal })
        }
        // Counts against this link until it has proved to work.
        this.#failures++
        await this.#open()
        return
      } catch (error) {
        if (signal.aborted) return
        because = error
        this.#outage.failed(error)
      }
    }
  }

  #scheduleHealthCheck(link: TransportLink, { provenAt, isFirst }: { readonly provenAt: number; readonly isFirst: boolean }): void {
    const { clock, healthCheckSeconds } = this.#options
    this.#cancelHealthCheck = clock.setTimer(Math.max(0, provenAt + healthCheckSeconds - clock.monotonicSeconds()), () => {
      link.prove(provenAt).then(
        (again) => {
          if (this.#link !== link) return
          if (isFirst) {
            this.#failures = 0
            this.#outage.succeeded()
          }
          this.#options.onHealthy()
          this.#scheduleHealthCheck(link, { provenAt: again, isFirst: false })
        },
        (error: unknown) => link.destroy(error as Error),
      )
    })
  }
}
