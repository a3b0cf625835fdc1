import { backoffSeconds, type Claim, errorMessage } from '@es/coordination-core'
import type { SubscriptionRun } from './subscription-run.js'
import type { WorkPhase, WorkStatus } from './worker-status.js'

/** What follows from runs that fail. */
export interface FailurePolicy {
  readonly longestRunPauseSeconds: number
  readonly maxRunFailures: number
  readonly declineSeconds: number
  readonly random: () => number
}

/** One subscription that this instance has to do with. */
export class WorkEntry {
  readonly name: string
  claim: Claim | null = null
  run: SubscriptionRun | null = null
  /** Monotonic time at which the present run began. */
  startedAt = 0
  /** Monotonic time until which a run that was told to stop may take; `null` while it was not told. */
  stopBy: number | null = null
  busy: 'claiming' | 'releasing' | null = null
  /** Runs that were given up and may still be going on. */
  abandonedRuns = 0
  failures = 0
  lastError: string | null = null
  mayStartAt = Number.NEGATIVE_INFINITY
  declinedUntil = Number.NEGATIVE_INFINITY
  isDenied = false
  holder: string | null = null
  /** Monotonic time before which it is not claimed again after a denial. */
  claimAgainAt = Number.NEGATIVE_INFINITY
  #phase: WorkPhase | null = null
  #since = new Date(0)
  #wasHeld = false
  #wasDeclined = false

  constructor(name: string) {
    this.name = name
  }

  /** Where its run stands; `null` when there is none. */
  get runPhase(): 'running' | 'stopping' | 'lost' | null {
    if (this.run === null) return null
    if (this.run.cause === 'lost') return 'lost'
    return this.run.cause === null ? 'running' : 'stopping'
  }

  /** Whether somebody else must keep off: the subscription runs here, or is claimed. */
  get isHeld(): boolean {
    return this.run !== null || this.claim !== null || this.busy === 'releasing'
  }

  /** Whether it cannot run here for now. */
  isDeclined(now: number): boolean {
    return this.declinedUntil > now || this.abandonedRuns > 0
  }

  /** Whether the others should be told: it is held or declined otherwise than when this was last asked. */
  takeNews(now: number): boolean {
    const isDeclined = this.isDeclined(now)
    const isNews = this.isHeld !== this.#wasHeld || isDeclined !== this.#wasDeclined
    this.#wasHeld = this.isHeld
    this.#wasDeclined = isDeclined
    return isNews
  }

  /** Whether there is nothing left to remember. */
  isIdle(now: number): boolean {
    return !this.isHeld && this.busy === null && !this.isDeclined(now)
  }

  /**
   * A run ended without having been told to; `error` is `null` when it just returned. Returns the pause before the next try, `null` when this
   * instance declines for a while instead, so that another one gets it.
   */
  failed(error: unknown, now: number, { longestRunPauseSeconds, maxRunFailures, declineSeconds, random }: FailurePolicy): number | null {
    this.failures++
    this.lastError = error === null ? null : errorMessage(error)
    if (this.failures % maxRunFailures === 0) {
      this.declinedUntil = now + declineSeconds
      return null
    }
    const retryInSeconds = backoffSeconds(this.failures, { firstSeconds: 1, longestSeconds: longestRunPauseSeconds, random })
    this.mayStartAt = now + retryInSeconds
    return retryInSeconds
  }

  /** A run that goes well for longer than the longest pause has made up for the failures before. */
  forgive(now: number, { longestRunPauseSeconds }: FailurePolicy): void {
    if (this.run === null || this.startedAt > now - longestRunPauseSeconds) return
    this.failures = 0
    this.lastError = null
  }

  /** Notes the phase; it has been the present one since the first time it was noted. */
  note(isDesired: boolean, monotonic: number, now: Date): void {
    const phase = this.#findPhase(isDesired, monotonic)
    if (phase === this.#phase) return
    this.#phase = phase
    this.#since = now
  }

  status(): WorkStatus | null {
    if (this.#phase === null) return null
    return {
      subscription: this.name,
      phase: this.#phase,
      since: this.#since,
      fencingToken: (this.run?.fencingToken ?? this.claim?.fencingToken)?.toString() ?? null,
      holder: this.isDenied ? this.holder : null,
      failures: this.failures,
      lastError: this.lastError,
    }
  }

  #findPhase(isDesired: boolean, now: number): WorkPhase | null {
    if (this.run !== null) return this.run.cause === null ? 'running' : 'stopping'
    // Asking again for what was denied is no news.
    if (this.busy !== null) return this.busy === 'claiming' && this.isDenied ? 'denied' : this.busy
    if (this.isDeclined(now)) return 'declined'
    if (!isDesired) return this.claim === null ? null : 'releasing'
    if (this.isDenied) return 'denied'
    return this.mayStartAt > now ? 'waiting_to_restart' : 'starting'
  }
}
