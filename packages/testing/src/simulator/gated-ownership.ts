import { boundedCall, type Claim, type ClaimHolder, type ClaimOutcome, CoordinationError, type Ownership } from '@es/coordination-core'
import type { Gate } from './gated-elector.js'

type ClaimOptions = Parameters<Ownership['claim']>[1]

/** An ownership as the code of a simulated process sees it, see `GatedElector`. */
export class GatedOwnership implements Ownership {
  readonly instanceId: string
  readonly #inner: Ownership
  readonly #gate: Gate
  readonly #claims = new WeakMap<Claim, GatedClaim>()
  readonly #held = new Map<string, GatedClaim>()

  constructor(inner: Ownership, gate: Gate) {
    this.#inner = inner
    this.#gate = gate
    this.instanceId = inner.instanceId
  }

  get held(): ReadonlyMap<string, Claim> {
    return new Map([...this.#held].filter(([, claim]) => claim.isHeld))
  }

  async claim(subscriptions: readonly string[], options: ClaimOptions = {}): Promise<ClaimOutcome> {
    const { wire, process, claiming } = this.#gate
    claiming?.(subscriptions)
    const { claimed, denied } =
      wire === null
        ? await this.#inner.claim(subscriptions, options)
        : await boundedCall(
            {
              clock: process.userClock,
              what: 'Claiming subscriptions',
              timeoutSeconds: options.timeoutSeconds ?? 10,
              signals: [options.signal],
            },
            async ({ signal: over }) => {
              const outcome = await wire.request(() => this.#inner.claim(subscriptions, { ...options, signal: over }))
              if (over.aborted) await wire.request(() => this.#inner.release(this.#newOf(outcome)))
              return outcome
            },
          )
    return { claimed: claimed.map((claim) => this.#adopt(claim)), denied }
  }

  release(subscriptions: readonly string[]): Promise<void> {
    // An adapter on the other end of the wire would end them only when the call arrives there.
    for (const subscription of this.#gate.wire === null ? [] : subscriptions) {
      const claim = this.#held.get(subscription)
      claim?.end(new CoordinationError('claim_released', `The claim on ${subscription} was released`))
    }
    return this.#call('Releasing subscriptions', () => this.#inner.release(subscriptions))
  }

  observe(subscriptions: readonly string[]): Promise<ReadonlyMap<string, ClaimHolder>> {
    return this.#call('Looking at the claims', () => this.#inner.observe(subscriptions))
  }

  #call<T>(what: string, work: () => Promise<T>): Promise<T> {
    const { wire, process } = this.#gate
    if (wire === null) return work()
    return boundedCall({ clock: process.userClock, what, timeoutSeconds: 10 }, () => wire.request(work))
  }

  #newOf({ claimed }: ClaimOutcome): readonly string[] {
    return claimed.filter((claim) => !this.#claims.has(claim)).map(({ subscription }) => subscription)
  }

  #adopt(inner: Claim): Claim {
    const known = this.#claims.get(inner)
    if (known !== undefined) return known
    const { record, process } = this.#gate
    const claim = new GatedClaim(inner)
    this.#claims.set(inner, claim)
    this.#held.set(inner.subscription, claim)
    record.claimed(inner)
    claim.signal.addEventListener('abort', () => {
      if (this.#held.get(inner.subscription) === claim) this.#held.delete(inner.subscription)
      record.claimEnded(inner.subscription, (claim.signal.reason as Partial<CoordinationError> | null)?.code === 'claim_released')
    })
    const over = (): void => process.pass(() => claim.end(inner.signal.reason))
    inner.signal.addEventListener('abort', over, { once: true })
    if (inner.signal.aborted) over()
    return claim
  }
}

class GatedClaim implements Claim {
  readonly subscription: string
  readonly fencingToken: bigint
  readonly #inner: Claim
  readonly #end = new AbortController()

  constructor(inner: Claim) {
    this.#inner = inner
    this.subscription = inner.subscription
    this.fencingToken = inner.fencingToken
  }

  get isHeld(): boolean {
    return !this.#end.signal.aborted && this.#inner.isHeld
  }

  get signal(): AbortSignal {
    return this.#end.signal
  }

  end(reason: unknown): void {
    this.#end.abort(reason)
  }
}
