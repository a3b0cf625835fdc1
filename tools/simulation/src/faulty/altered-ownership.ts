import type { Claim, ClaimHolder, ClaimOutcome, Ownership } from '@es/coordination-core'

type ClaimOptions = Parameters<Ownership['claim']>[1]

/** An ownership whose claims are not what they were. */
export class AlteredOwnership implements Ownership {
  readonly instanceId: string
  readonly #inner: Ownership
  readonly #alter: (claim: Claim) => Claim
  readonly #altered = new WeakMap<Claim, Claim>()

  constructor(inner: Ownership, alter: (claim: Claim) => Claim) {
    this.#inner = inner
    this.instanceId = inner.instanceId
    this.#alter = alter
  }

  get held(): ReadonlyMap<string, Claim> {
    return new Map([...this.#inner.held].map(([name, claim]) => [name, this.#alteredOf(claim)]))
  }

  async claim(subscriptions: readonly string[], options?: ClaimOptions): Promise<ClaimOutcome> {
    const { claimed, denied } = await this.#inner.claim(subscriptions, options)
    return { claimed: claimed.map((claim) => this.#alteredOf(claim)), denied }
  }

  release(subscriptions: readonly string[]): Promise<void> {
    return this.#inner.release(subscriptions)
  }

  observe(subscriptions: readonly string[]): Promise<ReadonlyMap<string, ClaimHolder>> {
    return this.#inner.observe(subscriptions)
  }

  #alteredOf(claim: Claim): Claim {
    const altered = this.#altered.get(claim) ?? this.#alter(claim)
    this.#altered.set(claim, altered)
    return altered
  }
}

/** The token of every claim is the same. */
export function withOneToken(inner: Claim): Claim {
  const { subscription, signal } = inner
  return {
    subscription,
    signal,
    fencingToken: 1n,
    get isHeld() {
      return inner.isHeld
    },
  }
}

/** Whoever holds the claim does not learn that it is lost. */
export function withoutLoss({ subscription, fencingToken }: Claim): Claim {
  return { subscription, fencingToken, signal: new AbortController().signal, isHeld: true }
}
