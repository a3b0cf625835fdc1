import { type FakeClaim, HonestOwnership } from './honest-ownership.fixture.js'
import type { Lie } from './lie.fixture.js'

export const tokenLies: readonly Lie[] = [
  {
    lie: 'has one and the same token for all claims',
    fails: [
      'has a larger token with every claim on a subscription, whoever claims it',
      'has larger tokens for each subscription, however the batches overlap',
      'stays in order when the signal of a claim that ends makes its owner claim again',
      'gives each subscription to exactly one of two batches that race, over and over',
      'has larger tokens after a loss, whoever claims, and leaves the lost claims ended',
    ],
    ownership: class extends HonestOwnership {
      readonly #tokens = new Map<string, bigint>()
      protected override newClaim(subscription: string, token: bigint): FakeClaim {
        this.#tokens.set(subscription, token)
        return super.newClaim(subscription, 1n)
      }
      protected override free(claims: readonly FakeClaim[]): void {
        for (const { subscription } of claims) this.backend.free(subscription, this.#tokens.get(subscription) ?? 0n)
      }
    },
  },
  {
    lie: 'counts its own claims instead of all',
    fails: [
      'has a larger token with every claim on a subscription, whoever claims it',
      'has larger tokens for each subscription, however the batches overlap',
      'has larger tokens after a loss, whoever claims, and leaves the lost claims ended',
    ],
    ownership: class extends HonestOwnership {
      #count = 0n
      readonly #tokens = new Map<bigint, bigint>()
      protected override newClaim(subscription: string, token: bigint): FakeClaim {
        this.#tokens.set(++this.#count, token)
        return super.newClaim(subscription, this.#count)
      }
      protected override free(claims: readonly FakeClaim[]): void {
        for (const { subscription, fencingToken } of claims) this.backend.free(subscription, this.#tokens.get(fencingToken) ?? 0n)
      }
    },
  },
  {
    lie: 'gives all that it holds a new token with each batch',
    fails: ['keeps the token of a claim while more is claimed and released'],
    ownership: class extends HonestOwnership {
      protected override take(subscription: string): FakeClaim | null {
        const claim = super.take(subscription)
        if (claim) for (const other of this.claims.values()) Object.assign(other, { fencingToken: claim.fencingToken })
        return claim
      }
      protected override free(claims: readonly FakeClaim[]): void {
        const names = new Set(claims.map(({ subscription }) => subscription))
        const kept = [...this.claims.values()]
        this.backend.takeAway(this)
        for (const { subscription } of kept) if (!names.has(subscription)) this.backend.take(this, subscription)
      }
    },
  },
]
