import type { ClaimHolder } from '@es/coordination-core'
import { FakeChannel } from '../../conformance/fake-channel.fixture.js'

/** Who may claim at {@link FakeClaims}. */
export interface Claimant {
  readonly instanceId: string
}

interface Holder {
  readonly owner: Claimant
  readonly token: bigint
  heardAt: number
}

/** Where requests of ownerships arrive: knows who holds what, until a lease without a word runs out. */
export class FakeClaims extends FakeChannel {
  readonly leaseSeconds: number
  readonly #holders = new Map<string, Holder>()
  #lastToken = 0n

  constructor({ leaseSeconds = 3600 }: { readonly leaseSeconds?: number } = {}) {
    super()
    this.leaseSeconds = leaseSeconds
  }

  get size(): number {
    return this.#holders.size
  }

  /** The token of a new claim; `null` when another one holds the subscription. What `owner` held already it holds anew. */
  take(owner: Claimant, subscription: string): bigint | null {
    const holder = this.#holder(subscription)
    if (holder !== undefined && holder.owner !== owner) return null
    const token = ++this.#lastToken
    this.#holders.set(subscription, { owner, token, heardAt: performance.now() })
    return token
  }

  /** Ends the claim with this token, if it is still there. */
  free(subscription: string, token: bigint): void {
    if (this.#holders.get(subscription)?.token === token) this.#holders.delete(subscription)
  }

  /** Whether the claim with this token is still there, which extends its lease. */
  touch(subscription: string, token: bigint): boolean {
    const holder = this.#holder(subscription)
    if (holder?.token !== token) return false
    holder.heardAt = performance.now()
    return true
  }

  holderOf(subscription: string): ClaimHolder | null {
    const holder = this.#holder(subscription)
    return holder === undefined ? null : { instanceId: holder.owner.instanceId, detail: 'in this process' }
  }

  /** Frees what `owner` holds behind its back. */
  takeAway(owner: Claimant): void {
    for (const [subscription, holder] of this.#holders) if (holder.owner === owner) this.#holders.delete(subscription)
  }

  #holder(subscription: string): Holder | undefined {
    const holder = this.#holders.get(subscription)
    return holder !== undefined && performance.now() < holder.heardAt + this.leaseSeconds * 1000 ? holder : undefined
  }
}
