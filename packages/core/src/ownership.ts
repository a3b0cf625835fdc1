/** Exclusive ownership of one subscription by this instance. */
export interface Claim {
  readonly subscription: string
  /**
   * Number of this claim, strictly larger than that of every earlier claim on the same subscription by any instance. Store it with each
   * checkpoint and refuse a smaller one.
   */
  readonly fencingToken: bigint
  /** Whether the claim is certain now. Computed, so it is already `false` on the first line that runs after a pause longer than the lease. */
  readonly isHeld: boolean
  /** Aborts once the claim has ended: released, or lost. The reason is a CoordinationError with the code `claim_released` or `claim_lost`. */
  readonly signal: AbortSignal
}

/** Who holds a subscription, as the backend shows it to anybody. */
export interface ClaimHolder {
  /** The holder's instance id; the backend may cut a long one. */
  readonly instanceId: string
  /** Anything that helps an operator find the holder, such as a backend pid. */
  readonly detail: string
}

/** A subscription that somebody else holds. */
export interface DeniedClaim {
  readonly subscription: string
  /** `null` when the holder let go in the meantime, or cannot be told. */
  readonly holder: ClaimHolder | null
}

/** What came of a batch of claims; every subscription asked for is in exactly one of the two lists, in the order asked. */
export interface ClaimOutcome {
  readonly claimed: readonly Claim[]
  readonly denied: readonly DeniedClaim[]
}

/**
 * Claims on subscriptions: at any instant at most one instance holds a subscription. An assignment is advice; a claim is the law.
 *
 * All claims of an instance may be lost together, when the backend is out of reach for longer than the lease.
 */
export interface Ownership {
  /** Names this instance to the others: what they see in {@link observe}. */
  readonly instanceId: string
  /** The claims that are held now, by subscription. */
  readonly held: ReadonlyMap<string, Claim>
  /**
   * Claims as many of `subscriptions` as are free, in one step and without waiting. A subscription held already is
   * answered with the claim that exists.
   *
   * @throws ConnectionError when the backend could not be asked within `timeoutSeconds` (default 10). Nothing new is held then.
   * @throws CoordinationError `too_many_claims` when the batch would exceed what the backend can safely hold. Nothing new is held then.
   * @throws the signal's reason when `signal` aborts. Nothing new is held then.
   */
  claim(
    subscriptions: readonly string[],
    options?: { readonly timeoutSeconds?: number; readonly signal?: AbortSignal },
  ): Promise<ClaimOutcome>
  /**
   * Lets go of `subscriptions`; those not held are skipped. `isHeld` is `false` and the claim's signal aborted from the moment of the
   * call: the work must have stopped before.
   *
   * @throws ConnectionError when the backend could not be told. The claims end with the lease then.
   */
  release(subscriptions: readonly string[]): Promise<void>
  /**
   * Who holds each of `subscriptions` at this moment, as far as anybody does.
   *
   * @throws ConnectionError when the backend could not be asked.
   */
  observe(subscriptions: readonly string[]): Promise<ReadonlyMap<string, ClaimHolder>>
}
