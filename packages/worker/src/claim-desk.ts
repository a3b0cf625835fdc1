import {
  backoffSeconds,
  boundedCall,
  type Claim,
  type Clock,
  errorMessage,
  FailureLog,
  type Logger,
  type Ownership,
} from '@es/coordination-core'
import { CLAIM_SECONDS, lastWordSeconds } from './call-limits.js'

/** What a {@link ClaimDesk} is made of. */
export interface ClaimDeskOptions {
  readonly ownership: Ownership
  readonly instanceId: string
  readonly clock: Clock
  readonly logger: Logger
  readonly random: () => number
  /** Failing for this long, while this instance is heard, makes it unfit ... */
  readonly unfitAfterSeconds: number
  /** ... for this long. */
  readonly declineSeconds: number
  /** Whether the others hear this instance: otherwise nothing tells it from an outage for everybody. */
  readonly isHeard: () => boolean
  /** Claims are held. Also told of those that came after their call had been given up: they are held all the same. */
  readonly claimed: (claims: readonly Claim[]) => void
  readonly denied: (subscription: string, holder: string | null) => void
}

/** Asks the ownership adapter for claims, one batch at a time, and gives them back. */
export class ClaimDesk {
  readonly #options: ClaimDeskOptions
  readonly #closing = new AbortController()
  readonly #outage: FailureLog
  #closeBy = Number.POSITIVE_INFINITY
  #isClaiming = false
  #againAt = Number.NEGATIVE_INFINITY
  #failures = 0
  #failing: string | null = null
  #failingSince: number | null = null
  #unfitUntil = Number.NEGATIVE_INFINITY
  #unfitBecause = ''

  constructor(options: ClaimDeskOptions) {
    this.#options = options
    const { clock, logger, instanceId } = options
    this.#outage = new FailureLog({ what: 'Claiming subscriptions', clock, logger, fields: { instanceId } })
  }

  /** Whether a batch is under way. */
  get isClaiming(): boolean {
    return this.#isClaiming
  }

  /** Monotonic time before which the backend is left alone after a failure. */
  get againAt(): number {
    return this.#againAt
  }

  /** Why claims cannot be made; `null` while they can. */
  get failing(): string | null {
    return this.#failing ?? (this.#options.clock.monotonicSeconds() < this.#unfitUntil ? this.#unfitBecause : null)
  }

  /** Monotonic time until which this instance should be given nothing, since it alone cannot claim. */
  get unfitUntil(): number {
    return this.#unfitUntil
  }

  /** Nothing is wanted: whether claims can be made is not known any more. */
  forgetOutage(): void {
    this.#failures = 0
    this.#failing = null
    this.#failingSince = null
  }

  /** Claims no more, and gives up on the batch under way. Releases take until `deadline` (monotonic), or a last moment, whichever is later. */
  close(deadline: number): void {
    this.#closeBy = deadline
    this.#closing.abort()
  }

  /** Never rejects. */
  async claim(subscriptions: readonly string[]): Promise<void> {
    const { ownership, clock, random, claimed, denied } = this.#options
    const what = { clock, what: 'Claiming subscriptions', timeoutSeconds: CLAIM_SECONDS, signals: [this.#closing.signal] }
    this.#isClaiming = true
    try {
      const outcome = await boundedCall(what, async ({ signal: over }) => {
        const answer = await ownership.claim(subscriptions, { signal: over })
        claimed(answer.claimed)
        return answer
      })
      for (const { subscription, holder } of outcome.denied) denied(subscription, holder?.instanceId ?? null)
      this.forgetOutage()
      this.#outage.succeeded()
      this.#unfitUntil = Number.NEGATIVE_INFINITY
      this.#againAt = Number.NEGATIVE_INFINITY
    } catch (error) {
      if (!this.#closing.signal.aborted) {
        this.#outage.failed(error)
        this.#failing = errorMessage(error)
        this.#judge(clock.monotonicSeconds(), this.#failing)
        this.#againAt = clock.monotonicSeconds() + backoffSeconds(++this.#failures, { firstSeconds: 1, longestSeconds: 5, random })
      }
    }
    this.#isClaiming = false
  }

  #judge(now: number, message: string): void {
    const { isHeard, unfitAfterSeconds, declineSeconds } = this.#options
    this.#failingSince = isHeard() ? (this.#failingSince ?? now) : null
    if (this.#failingSince !== null && now - this.#failingSince >= unfitAfterSeconds) {
      this.#unfitUntil = now + declineSeconds
      this.#unfitBecause = message
    }
  }

  /** Never rejects: what could not be released ends with the lease. */
  async release(subscriptions: readonly string[]): Promise<void> {
    const { ownership, clock, logger, instanceId } = this.#options
    const timeoutSeconds = Math.min(CLAIM_SECONDS, lastWordSeconds(clock, this.#closeBy))
    try {
      await boundedCall({ clock, what: 'Releasing subscriptions', timeoutSeconds }, () => ownership.release(subscriptions))
    } catch (error) {
      logger.warn({ instanceId, error, subscriptions: subscriptions.length }, 'Claims could not be released; they end with the lease')
    }
  }
}
