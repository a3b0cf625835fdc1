import { type Claim, type ClaimHolder, type ClaimOutcome, CoordinationError, type Ownership } from '@es/coordination-core'

/** An ownership that grants whatever is claimed and asks nobody. */
export class UnaskedOwnership implements Ownership {
  readonly instanceId: string
  readonly held = new Map<string, SelfMadeClaim>()
  readonly #nextToken: () => bigint

  constructor(instanceId: string, nextToken: () => bigint) {
    this.instanceId = instanceId
    this.#nextToken = nextToken
  }

  async claim(subscriptions: readonly string[]): Promise<ClaimOutcome> {
    const claimed = subscriptions.map((subscription) => {
      const claim = this.held.get(subscription) ?? new SelfMadeClaim(subscription, this.#nextToken())
      this.held.set(subscription, claim)
      return claim
    })
    return { claimed, denied: [] }
  }

  async release(subscriptions: readonly string[]): Promise<void> {
    for (const subscription of subscriptions) {
      this.held.get(subscription)?.end()
      this.held.delete(subscription)
    }
  }

  async observe(): Promise<ReadonlyMap<string, ClaimHolder>> {
    return new Map()
  }
}

class SelfMadeClaim implements Claim {
  readonly subscription: string
  readonly fencingToken: bigint
  readonly #end = new AbortController()

  constructor(subscription: string, fencingToken: bigint) {
    this.subscription = subscription
    this.fencingToken = fencingToken
  }

  get isHeld(): boolean {
    return !this.#end.signal.aborted
  }

  get signal(): AbortSignal {
    return this.#end.signal
  }

  end(): void {
    this.#end.abort(new CoordinationError('claim_released', `The claim on ${this.subscription} was released`))
  }
}
