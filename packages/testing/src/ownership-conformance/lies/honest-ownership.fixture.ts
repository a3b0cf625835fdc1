import {
  type Claim,
  type ClaimHolder,
  type ClaimOutcome,
  ConnectionError,
  CoordinationError,
  type DeniedClaim,
  type Ownership,
} from '@es/coordination-core'
import type { FakeClaims } from './fake-claims.fixture.js'

export const MAX_CLAIMS = 600
const TIMEOUT_SECONDS = 2

export type ClaimOptions = NonNullable<Parameters<Ownership['claim']>[1]>
export type EndCode = 'claim_released' | 'claim_lost'

export class FakeClaim implements Claim {
  readonly subscription: string
  readonly fencingToken: bigint
  readonly #isTrusted: () => boolean
  readonly #end = new AbortController()

  constructor(subscription: string, fencingToken: bigint, isTrusted: () => boolean) {
    this.subscription = subscription
    this.fencingToken = fencingToken
    this.#isTrusted = isTrusted
  }

  get isHeld(): boolean {
    return !this.#end.signal.aborted && this.#isTrusted()
  }

  get signal(): AbortSignal {
    return this.#end.signal
  }

  end(code: EndCode): void {
    this.#end.abort(new CoordinationError(code, `the claim on ${this.subscription} ended`))
  }
}

/** The smallest ownership with a remote backend that keeps the whole contract: the suite must pass it, and the liars are made of it. */
export class HonestOwnership implements Ownership {
  readonly instanceId: string
  protected readonly backend: FakeClaims
  protected readonly claims = new Map<string, FakeClaim>()
  protected trustedUntil = Number.POSITIVE_INFINITY
  protected isClosed = false
  protected isConnected = true
  #timers: NodeJS.Timeout[] = []

  constructor(instanceId: string, backend: FakeClaims) {
    this.instanceId = instanceId
    this.backend = backend
  }

  get held(): ReadonlyMap<string, Claim> {
    return this.isTrusted() ? this.claims : new Map()
  }

  async claim(subscriptions: readonly string[], { timeoutSeconds = 10, signal }: ClaimOptions = {}): Promise<ClaimOutcome> {
    signal?.throwIfAborted()
    this.requireConnection()
    const wanted = [...new Set(subscriptions)]
    this.requireRoom(wanted)
    const askedAt = performance.now()
    // Adopted in the very moment in which it is granted, so that nothing comes in between.
    return await this.ask(() => this.adopt(wanted, askedAt), timeoutSeconds, signal)
  }

  async release(subscriptions: readonly string[]): Promise<void> {
    const ended = this.forget(subscriptions)
    if (ended.length === 0) return
    // Sent before the signals abort, because a listener may claim again.
    const freed = this.ask(() => this.free(ended), TIMEOUT_SECONDS)
    freed.catch(() => {})
    for (const claim of ended) claim.end('claim_released')
    await freed
  }

  async observe(subscriptions: readonly string[]): Promise<ReadonlyMap<string, ClaimHolder>> {
    this.requireConnection()
    return await this.ask(() => {
      const seen = new Map<string, ClaimHolder>()
      for (const subscription of subscriptions) {
        const holder = this.backend.holderOf(subscription)
        if (holder !== null) seen.set(subscription, holder)
      }
      return seen
    }, TIMEOUT_SECONDS)
  }

  async close(): Promise<void> {
    this.isClosed = true
    const ended = this.forget([...this.claims.keys()])
    const freed = this.ask(() => this.free(ended), TIMEOUT_SECONDS)
    for (const claim of ended) claim.end('claim_released')
    await freed.catch(() => {})
    this.stop()
  }

  /** Called by the world when the backend took the claims away. */
  onTakenAway(): void {
    this.backend.send(this, () => this.lose())
  }

  /** Called by the world. */
  disconnect(): void {
    this.isConnected = false
    this.backend.takeAway(this)
    this.lose()
  }

  /** Called by the world. */
  reconnect(): void {
    this.isConnected = true
  }

  /** Called by the world at the end. */
  stop(): void {
    for (const timer of this.#timers.splice(0)) clearTimeout(timer)
  }

  protected adopt(wanted: readonly string[], askedAt: number): ClaimOutcome {
    const claimed: Claim[] = []
    const denied: DeniedClaim[] = []
    if (!this.isTrusted()) this.lose()
    if (this.claims.size === 0) this.trustFrom(askedAt)
    for (const subscription of wanted) {
      const claim = this.claims.get(subscription) ?? this.take(subscription)
      if (claim === null) denied.push({ subscription, holder: this.backend.holderOf(subscription) })
      else claimed.push(claim)
    }
    return { claimed, denied }
  }

  protected take(subscription: string): FakeClaim | null {
    const token = this.backend.take(this, subscription)
    if (token === null) return null
    const claim = this.newClaim(subscription, token)
    this.claims.set(subscription, claim)
    return claim
  }

  protected newClaim(subscription: string, token: bigint): FakeClaim {
    return new FakeClaim(subscription, token, () => this.isTrusted())
  }

  protected forget(subscriptions: readonly string[]): readonly FakeClaim[] {
    const forgotten: FakeClaim[] = []
    for (const subscription of subscriptions) {
      const claim = this.claims.get(subscription)
      if (this.claims.delete(subscription) && claim) forgotten.push(claim)
    }
    return forgotten
  }

  protected free(claims: readonly FakeClaim[]): void {
    for (const { subscription, fencingToken } of claims) this.backend.free(subscription, fencingToken)
  }

  protected lose(): void {
    for (const claim of this.forget([...this.claims.keys()])) claim.end('claim_lost')
  }

  protected isTrusted(): boolean {
    return performance.now() < this.trustedUntil
  }

  protected trustFrom(askedAt: number): void {
    const leaseMilliseconds = this.backend.leaseSeconds * 1000
    this.trustedUntil = askedAt + leaseMilliseconds * 0.8
    this.stop()
    this.#timers = [
      setTimeout(() => void this.renew(), leaseMilliseconds / 4),
      // Rounded up, because Node rounds down, and a timer that comes early finds nothing to do.
      setTimeout(() => this.onUntrusted(), Math.ceil(this.trustedUntil - performance.now()) + 1),
    ]
  }

  protected onUntrusted(): void {
    if (!this.isTrusted()) this.lose()
  }

  protected async renew(): Promise<void> {
    const askedAt = performance.now()
    const touch = (): void => {
      const isAllThere = [...this.claims.values()].every(({ subscription, fencingToken }) => this.backend.touch(subscription, fencingToken))
      if (isAllThere) this.trustFrom(askedAt)
      else this.lose()
    }
    await this.ask(touch, this.backend.leaseSeconds).catch(() => {})
  }

  protected requireConnection(): void {
    if (this.isClosed) throw new ConnectionError('closed', 'the ownership was closed')
    if (!this.isConnected) throw new ConnectionError('unreachable', 'the ownership is disconnected')
  }

  protected requireRoom(wanted: readonly string[]): void {
    if (wanted.length + this.claims.size > MAX_CLAIMS) throw new CoordinationError('too_many_claims', 'too many claims')
  }

  protected async ask<T>(request: () => T, timeoutSeconds: number, signal?: AbortSignal): Promise<T> {
    return await this.backend.ask(this, request, timeoutSeconds, signal)
  }
}
