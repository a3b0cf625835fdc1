import {
  boundedCall,
  type CampaigningLeaderElector,
  type Clock,
  FailureLog,
  type FencedLeaderElector,
  type LeaderElector,
  type Logger,
  sleep,
} from '@es/coordination-core'
import { ATTEMPT_SECONDS } from './call-limits.js'

/** How a {@link LeadershipLoop} is set up. */
export interface LeadershipLoopOptions {
  readonly elector: LeaderElector
  readonly intervalSeconds: number
  readonly clock: Clock
  readonly logger: Logger
  /** Must not throw. */
  readonly gained: () => void
  /** Must not throw. Called once after each `gained`. */
  readonly lost: () => void
}

/** The fencing token of the present term, `null` when there is none. */
export function epochOf(elector: LeaderElector): bigint | null {
  return (elector as Partial<FencedLeaderElector>).fencingToken ?? null
}

const SHORT_PAUSE_SECONDS = 1

/**
 * Stands for election until it is told to stop: campaigns, or asks on an interval where the elector cannot; renews while it leads; and starts over
 * after each loss. No call of the elector that hangs can hold it.
 */
export class LeadershipLoop {
  readonly #options: LeadershipLoopOptions
  readonly #outage: FailureLog
  readonly #renewals: FailureLog
  readonly #standing = new AbortController()
  readonly #serving = new AbortController()
  readonly #onChange: (isLeader: boolean) => void
  #loop: Promise<void> = Promise.resolve()
  #wakeUp: (() => void) | null = null
  #pausedUntil = Number.NEGATIVE_INFINITY
  #isLeading = false
  #renewal: { readonly startedAt: number } | null = null
  #renewalFailedSince: number | null = null

  constructor(options: LeadershipLoopOptions) {
    this.#options = options
    const { clock, logger, elector } = options
    const fields = { identity: elector.identity }
    this.#outage = new FailureLog({ what: 'Standing for election', clock, logger, fields })
    this.#renewals = new FailureLog({ what: 'Renewing leadership', clock, logger, fields })
    this.#onChange = (isLeader) => {
      if (isLeader) this.#gained()
      else this.#lost()
    }
  }

  start(): void {
    const { elector } = this.#options
    elector.onLeaderChange(this.#onChange)
    // No change is told for leadership that was gained before.
    if (elector.isLeader) this.#gained()
    this.#loop = this.#run()
  }

  /** Whether `gained` was called, and `lost` not yet. */
  get isLeading(): boolean {
    return this.#isLeading
  }

  /** Since when, on the monotonic clock, this leader has been unable to renew; `null` when it is not. */
  get renewalFailedSince(): number | null {
    const { elector, clock, intervalSeconds } = this.#options
    if (!elector.isLeader) return null
    const isOverdue = this.#renewal !== null && clock.monotonicSeconds() - this.#renewal.startedAt > intervalSeconds
    return this.#renewalFailedSince ?? (isOverdue ? (this.#renewal?.startedAt ?? null) : null)
  }

  /** Asks again at once, where the loop waits to ask: leadership has probably become free. */
  hurry(): void {
    this.#wakeUp?.()
  }

  /** Does not stand for this long, so that another one can lead. */
  pause(seconds: number): void {
    this.#pausedUntil = this.#options.clock.monotonicSeconds() + seconds
  }

  /** Stands no more, from this moment on. What is held is still renewed, and its loss told. */
  retire(): void {
    this.#standing.abort()
  }

  /** Gives leadership up, if it is held, within `timeoutSeconds`; never rejects. */
  async release(timeoutSeconds: number): Promise<void> {
    const { elector, clock, logger } = this.#options
    try {
      await boundedCall({ clock, what: 'Releasing leadership', timeoutSeconds }, () => elector.release())
    } catch (error) {
      logger.warn({ identity: elector.identity, error }, 'Could not release leadership; it ends with the lease')
    }
  }

  /** Retires, gives up what is held, and calls nobody any more. Bounded by `timeoutSeconds`; never rejects. */
  async leave(timeoutSeconds: number): Promise<void> {
    this.#standing.abort()
    this.#serving.abort()
    await this.#loop
    await this.release(timeoutSeconds)
    this.#options.elector.removeLeaderChangeCallback(this.#onChange)
    this.#lost()
  }

  #gained(): void {
    // Callbacks may be told late: the term that this one is about can be over.
    if (this.#isLeading || !this.#options.elector.isLeader) return
    this.#isLeading = true
    this.#options.gained()
  }

  #lost(): void {
    if (!this.#isLeading) return
    this.#isLeading = false
    this.#renewal = null
    this.#renewalFailedSince = null
    this.#options.lost()
    this.#wakeUp?.()
  }

  async #run(): Promise<void> {
    const { elector, intervalSeconds } = this.#options
    while (!this.#serving.signal.aborted) {
      try {
        if (elector.isLeader) await this.#lead(this.#serving.signal)
        else if (this.#standing.signal.aborted) return
        else await this.#stand(this.#standing.signal)
        this.#outage.succeeded()
      } catch (error) {
        if (this.#standing.signal.aborted) continue
        this.#outage.failed(error)
        await this.#wait(intervalSeconds, this.#standing.signal)
      }
    }
  }

  async #stand(signal: AbortSignal): Promise<void> {
    const { elector, clock, intervalSeconds } = this.#options
    const pauseSeconds = this.#pausedUntil - clock.monotonicSeconds()
    if (pauseSeconds > 0) return sleep(pauseSeconds, { clock, signal })
    const campaigns = canCampaign(elector)
    const limit = campaigns ? {} : { timeoutSeconds: ATTEMPT_SECONDS }
    await boundedCall({ clock, what: 'An attempt to lead', signals: [signal], ...limit }, async ({ signal: over }) => {
      await (canCampaign(elector) ? elector.campaign({ signal: over }) : elector.tryAcquire({ signal: over }))
      // Nobody wants it any more, and it was won all the same.
      if (signal.aborted && elector.isLeader) await elector.release()
    })
    // A campaign that was won and is over already must not become a loop without a pause.
    if (!elector.isLeader) await this.#wait(campaigns ? Math.min(SHORT_PAUSE_SECONDS, intervalSeconds) : intervalSeconds, signal)
  }

  async #lead(signal: AbortSignal): Promise<void> {
    const { elector, clock, intervalSeconds } = this.#options
    await this.#wait(intervalSeconds, signal)
    if (signal.aborted || !elector.isLeader || this.#renewal !== null) return
    const renewal = { startedAt: clock.monotonicSeconds() }
    this.#renewal = renewal
    void this.#renew(renewal)
  }

  /** One renewal at a time, and nobody waits for it: a loss is told by the elector, whatever becomes of the call. */
  async #renew(renewal: { readonly startedAt: number }): Promise<void> {
    const { elector } = this.#options
    let isRenewed = false
    try {
      isRenewed = await elector.renew()
      if (isRenewed) this.#renewals.succeeded()
    } catch (error) {
      this.#renewals.failed(error)
    }
    // The answer of a term that is over means nothing to the present one.
    if (this.#renewal !== renewal) return
    this.#renewal = null
    this.#renewalFailedSince = isRenewed ? null : (this.#renewalFailedSince ?? renewal.startedAt)
  }

  /** Waits, or until woken, or told to stop. */
  async #wait(seconds: number, signal: AbortSignal): Promise<void> {
    const woken = new AbortController()
    const wake = (): void => woken.abort()
    if (signal.aborted) return
    this.#wakeUp = wake
    signal.addEventListener('abort', wake)
    try {
      await sleep(seconds, { clock: this.#options.clock, signal: woken.signal })
    } catch {
      // Woken early: the loop looks around.
    } finally {
      signal.removeEventListener('abort', wake)
      this.#wakeUp = null
    }
  }
}

function canCampaign(elector: LeaderElector): elector is CampaigningLeaderElector {
  return typeof (elector as Partial<CampaigningLeaderElector>).campaign === 'function'
}
