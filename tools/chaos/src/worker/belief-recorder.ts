import type { Claim, FencedLeaderElector } from '@es/coordination-core'
import type { HistoryFile } from '../history-file.js'
import { hostSeconds } from '../host-clock.js'
import type { RecordingClock } from './recording-clock.js'

/** What a {@link BeliefRecorder} is made of. */
export interface BeliefRecorderOptions {
  readonly instanceId: string
  readonly file: HistoryFile
  readonly clock: RecordingClock
  readonly elector: FencedLeaderElector
  /** No trust lasts longer, on the machine's clock. */
  readonly horizonSeconds: number
  /** Who leads or owns what has changed. */
  readonly changed: (leads: boolean, owns: number) => void
}

// Trust that was put off by less than this is recorded next time.
const NOTABLE_SECONDS = 0.001
const LOOK_EVERY_MS = 10

/**
 * Records what an instance believes to lead and to hold, and until when it will go on to believe so whatever happens to it: a process that
 * is stopped a moment later believes that on waking, up to the instant that was recorded.
 *
 * A beginning is recorded once it is known. A release is recorded at the call, before anybody else can have what is released.
 */
export class BeliefRecorder implements Disposable {
  readonly #options: BeliefRecorderOptions
  readonly #claims = new Map<string, Claim>()
  readonly #looking: NodeJS.Timeout
  #term: { readonly token: bigint; trustedUntil: number } | null = null
  #claimsTrustedUntil = 0
  #willLook = false

  constructor(options: BeliefRecorderOptions) {
    this.#options = options
    options.clock.onTimer = () => this.#lookSoon()
    options.elector.onLeaderChange(() => this.#look())
    this.#looking = setInterval(() => this.#look(), LOOK_EVERY_MS)
  }

  /** Claims that were answered just now; those that are known already are left as they are. */
  claimed(claims: readonly Claim[]): void {
    const { file, instanceId, clock, horizonSeconds } = this.#options
    for (const claim of claims) {
      const { subscription, fencingToken: token } = claim
      const known = this.#claims.get(subscription)
      if (known === claim) continue
      if (known !== undefined) this.#lost(known)
      const trustedUntil = clock.trueUntil(() => claim.isHeld, horizonSeconds)
      file.record({ type: 'claimed', instanceId, subscription, token, trustedUntil })
      this.#claims.set(subscription, claim)
      this.#claimsTrustedUntil = trustedUntil
      claim.signal.addEventListener('abort', () => this.#lost(claim), { once: true })
      if (claim.signal.aborted) this.#lost(claim)
    }
    this.#tell()
  }

  /** `subscriptions` are about to be released. */
  releasing(subscriptions: readonly string[]): void {
    const { file, instanceId } = this.#options
    for (const subscription of subscriptions) {
      const claim = this.#claims.get(subscription)
      if (claim === undefined) continue
      this.#claims.delete(subscription)
      file.record({ type: 'claim_released', instanceId, subscription, token: claim.fencingToken })
    }
    this.#tell()
  }

  /** Leadership is about to be released. */
  abdicating(): void {
    this.#look()
    this.#endTerm()
  }

  [Symbol.dispose](): void {
    clearInterval(this.#looking)
    this.#options.clock.onTimer = () => {}
    this.#look()
  }

  #lookSoon(): void {
    if (this.#willLook) return
    this.#willLook = true
    queueMicrotask(() => {
      this.#willLook = false
      this.#look()
    })
  }

  #look(): void {
    // Taken before the questions: a process that loses the processor in between has not renewed anything later for that.
    const at = hostSeconds()
    this.#lookAtTerm(at)
    this.#lookAtClaims(at)
  }

  #lookAtTerm(at: number): void {
    const { file, instanceId, clock, elector, horizonSeconds } = this.#options
    const token = elector.fencingToken
    if (this.#term !== null && this.#term.token !== token) this.#endTerm()
    if (token === null) return
    const leads = (): boolean => elector.fencingToken === token
    if (this.#term === null) {
      this.#term = { token, trustedUntil: clock.trueUntil(leads, horizonSeconds) }
      file.record({ type: 'elected', instanceId, ...this.#term })
      this.#tell()
    } else if (clock.isTrueAt(this.#term.trustedUntil + NOTABLE_SECONDS, leads)) {
      this.#term.trustedUntil = clock.trueUntil(leads, horizonSeconds)
      file.record({ type: 'leadership_renewed', instanceId, trustedUntil: this.#term.trustedUntil }, at)
    }
  }

  #lookAtClaims(at: number): void {
    const { file, instanceId, clock, horizonSeconds } = this.#options
    // All of them rest on one lease.
    const [claim] = this.#claims.values()
    if (claim === undefined || !clock.isTrueAt(this.#claimsTrustedUntil + NOTABLE_SECONDS, () => claim.isHeld)) return
    this.#claimsTrustedUntil = clock.trueUntil(() => claim.isHeld, horizonSeconds)
    file.record({ type: 'claims_renewed', instanceId, trustedUntil: this.#claimsTrustedUntil }, at)
  }

  #lost(claim: Claim): void {
    const { file, instanceId } = this.#options
    const { subscription, fencingToken: token } = claim
    if (this.#claims.get(subscription) !== claim) return
    this.#claims.delete(subscription)
    file.record({ type: 'claim_lost', instanceId, subscription, token })
    this.#tell()
  }

  #endTerm(): void {
    if (this.#term === null) return
    const { file, instanceId } = this.#options
    file.record({ type: 'leadership_lost', instanceId, token: this.#term.token })
    this.#term = null
    this.#tell()
  }

  #tell(): void {
    this.#options.changed(this.#term !== null, this.#claims.size)
  }
}
