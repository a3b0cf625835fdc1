import type { Clock } from '@es/coordination-core'
import { A_MOMENT_SECONDS } from './a-moment.js'

/** How hearing is judged, in seconds. */
export interface HearingOptions {
  readonly clock: Clock
  /** Silence after which an instance may hear nothing. */
  readonly unsureAfterSeconds: number
  /** Silence after which it counts as deaf. */
  readonly deafAfterSeconds: number
  /** How long to listen after messages may have been missed, before anybody's silence means anything. */
  readonly recoverySeconds: number
}

/**
 * Whether this instance hears the bus, judged by its own heartbeats coming back. Somebody who hears nothing cannot tell that others are silent. A
 * transport that never returns own messages tells nothing by their absence.
 */
export class Hearing {
  readonly #options: HearingOptions
  #ownHeardAt: number | null = null
  #listensUntil = Number.NEGATIVE_INFINITY

  constructor(options: HearingOptions) {
    this.#options = options
  }

  /** An own heartbeat came back. */
  heardSelf(): void {
    // Only silence counts here: asking `isUnsure` would begin the listening anew with every heartbeat, for ever.
    if (this.#silentForSeconds > this.#options.unsureAfterSeconds) this.missed()
    this.#ownHeardAt = this.#now()
  }

  /** Messages may have been missed. */
  missed(): void {
    this.#listensUntil = this.#now() + this.#options.recoverySeconds
  }

  /**
   * Whether others may seem silent only because this instance hears nothing, or heard nothing a moment ago. With a heartbeat interval of at most a third
   * of the timeout, and `unsureAfterSeconds` half of it, this is true before the first peer can seem silent for that reason.
   */
  get isUnsure(): boolean {
    return this.#silentForSeconds > this.#options.unsureAfterSeconds || this.#now() < this.#listensUntil
  }

  /** In how many seconds it will count as deaf if nothing is heard; infinite when it does already, or cannot. */
  get deafInSeconds(): number {
    if (this.#ownHeardAt === null || this.whyDeaf !== null) return Number.POSITIVE_INFINITY
    return this.#options.deafAfterSeconds - this.#silentForSeconds + A_MOMENT_SECONDS
  }

  /** Why this instance counts as deaf; `null` when it hears. */
  get whyDeaf(): string | null {
    if (this.#silentForSeconds <= this.#options.deafAfterSeconds) return null
    return `This instance has not even heard its own messages for ${this.#silentForSeconds.toFixed(0)} s`
  }

  get #silentForSeconds(): number {
    return this.#ownHeardAt === null ? 0 : this.#now() - this.#ownHeardAt
  }

  #now(): number {
    return this.#options.clock.monotonicSeconds()
  }
}
