import {
  type Claim,
  type ClaimHolder,
  type ClaimOutcome,
  ConnectionError,
  CoordinationError,
  type DeniedClaim,
  invalidOption,
  type Ownership,
  requireName,
  requireOptions,
} from '@es/coordination-core'
import { SharedClaims } from './shared-claims.js'

/** How an {@link InMemoryOwnership} is set up. */
export interface InMemoryOwnershipOptions {
  /** Shared by the ownerships that compete. */
  readonly claims: SharedClaims
}

const ENDINGS = {
  claim_released: 'was released: claim it again before you go on with it',
  claim_lost: 'was lost: stop at once and write nothing, somebody else may hold it',
} as const

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

  /** @throws CoordinationError `invalid_options` when `instanceId` is empty, or without `claims`. */
  constructor(instanceId: string, options: InMemoryOwnershipOptions) {
    this.instanceId = requireName('instanceId', instanceId)
    const { claims } = requireOptions(options)
    if (!(claims instanceof SharedClaims)) throw invalidOption('claims', claims, 'the SharedClaims of all ownerships that are to compete')
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
    this.#end(subscriptions, 'claim_released')
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
    this.#end(subscriptions, 'claim_lost')
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
    this.#end([...this.#held.keys()], 'claim_released')
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #end(subscriptions: readonly string[], code: keyof typeof ENDINGS): void {
    const ended = [...new Set(subscriptions)].flatMap((subscription) => this.#held.get(subscription) ?? [])
    // All free before anybody is told, so that a listener may claim again.
    for (const { subscription } of ended) {
      this.#held.delete(subscription)
      this.#shared.free(subscription, this)
    }
    for (const claim of ended) claim.end(new CoordinationError(code, `The claim on ${claim.subscription} ${ENDINGS[code]}`))
  }

  #describe(subscription: string): ClaimHolder | null {
    const instanceId = this.#shared.holderOf(subscription)
    return instanceId === null ? null : { instanceId, detail: 'in this process' }
  }

  #requireConnection(): void {
    if (this.#outage !== null) throw this.#outage
  }
}
