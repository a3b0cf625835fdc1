import {
  type Claim,
  type ClaimHolder,
  type ClaimOutcome,
  ConnectionError,
  CoordinationError,
  type DeniedClaim,
  type Ownership,
  requireName,
} from '@es/coordination-core'
import { SharedClaims } from './shared-claims.js'

/** How an {@link InMemoryOwnership} is set up. */
export interface InMemoryOwnershipOptions {
  /** Shared by the ownerships that compete. @default one of its own */
  readonly claims?: SharedClaims
}

class InMemoryClaim implements Claim {
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

  end(reason: CoordinationError): void {
    this.#end.abort(reason)
  }
}

/** {@link Ownership} inside one process: no lease, so claims last until they are released or taken away by {@link forceLose}. */
export class InMemoryOwnership implements Ownership, AsyncDisposable {
  readonly instanceId: string
  readonly #shared: SharedClaims
  readonly #held = new Map<string, InMemoryClaim>()
  #outage: ConnectionError | null = null
  #isClosed = false

  /** @throws CoordinationError `invalid_options` when `instanceId` is empty. */
  constructor(instanceId: string, { claims = new SharedClaims() }: InMemoryOwnershipOptions = {}) {
    this.instanceId = requireName('instanceId', instanceId)
    this.#shared = claims
  }

  get held(): ReadonlyMap<string, Claim> {
    return this.#held
  }

  async claim(
    subscriptions: readonly string[],
    { signal }: { readonly timeoutSeconds?: number; readonly signal?: AbortSignal } = {},
  ): Promise<ClaimOutcome> {
    signal?.throwIfAborted()
    this.#requireConnection()
    const claimed: Claim[] = []
    const denied: DeniedClaim[] = []
    const token = this.#shared.nextToken()
    for (const subscription of new Set(subscriptions)) {
      if (!this.#shared.take(subscription, this, this.instanceId)) {
        denied.push({ subscription, holder: this.#describe(subscription) })
        continue
      }
      const claim = this.#held.get(subscription) ?? new InMemoryClaim(subscription, token)
      this.#held.set(subscription, claim)
      claimed.push(claim)
    }
    return { claimed, denied }
  }

  async release(subscriptions: readonly string[]): Promise<void> {
    this.#end(subscriptions, 'claim_released', 'was released')
    this.#requireConnection()
  }

  async observe(subscriptions: readonly string[]): Promise<ReadonlyMap<string, ClaimHolder>> {
    this.#requireConnection()
    return new Map(
      subscriptions.flatMap((subscription): [string, ClaimHolder][] => {
        const holder = this.#describe(subscription)
        return holder === null ? [] : [[subscription, holder]]
      }),
    )
  }

  /** Takes claims away, all of them by default, as a backend would that lost this instance. */
  forceLose(subscriptions: readonly string[] = [...this.#held.keys()]): void {
    this.#end(subscriptions, 'claim_lost', 'was lost')
  }

  /** Makes every call reject, as an unreachable backend would, and loses all claims. */
  disconnect(): void {
    if (!this.#isClosed) this.#outage = new ConnectionError('unreachable', 'The claims cannot be reached')
    this.forceLose()
  }

  /** Ends {@link disconnect}. */
  reconnect(): void {
    if (!this.#isClosed) this.#outage = null
  }

  /** Releases everything. Idempotent. */
  async close(): Promise<void> {
    // Before anybody is told, so that no listener claims again.
    this.#isClosed = true
    this.#outage = new ConnectionError('closed', 'The ownership was closed')
    this.#end([...this.#held.keys()], 'claim_released', 'was released')
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #end(subscriptions: readonly string[], code: string, what: string): void {
    const ended = [...new Set(subscriptions)].flatMap((subscription) => this.#held.get(subscription) ?? [])
    // All free before anybody is told, so that a listener may claim again.
    for (const { subscription } of ended) {
      this.#held.delete(subscription)
      this.#shared.free(subscription, this)
    }
    for (const claim of ended) claim.end(new CoordinationError(code, `The claim on ${claim.subscription} ${what}`))
  }

  #describe(subscription: string): ClaimHolder | null {
    const instanceId = this.#shared.holderOf(subscription)
    return instanceId === null ? null : { instanceId, detail: 'in this process' }
  }

  #requireConnection(): void {
    if (this.#outage !== null) throw this.#outage
  }
}
