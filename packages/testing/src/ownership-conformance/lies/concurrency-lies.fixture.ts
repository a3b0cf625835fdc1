import type { Claim, ClaimOutcome } from '@es/coordination-core'
import { type ClaimOptions, type FakeClaim, HonestOwnership } from './honest-ownership.fixture.js'
import type { Lie } from './lie.fixture.js'

export const concurrencyLies: readonly Lie[] = [
  {
    lie: 'looks first and takes later',
    fails: ['gives each subscription to exactly one of two batches that race, over and over'],
    ownership: class extends HonestOwnership {
      override async claim(subscriptions: readonly string[], options: ClaimOptions = {}): Promise<ClaimOutcome> {
        options.signal?.throwIfAborted()
        this.requireConnection()
        const seen = await this.observe(subscriptions)
        const outcome = await super.claim(subscriptions, options)
        const grantable = outcome.denied.filter(({ subscription }) => !seen.has(subscription))
        if (grantable.length === 0) return outcome
        // It saw them free, so it believes that they are its own.
        const claims = grantable.map(({ subscription }) => {
          const claim = this.newClaim(subscription, 1_000_000n)
          this.claims.set(subscription, claim)
          return claim
        })
        return { claimed: [...outcome.claimed, ...claims], denied: outcome.denied.filter((answer) => !grantable.includes(answer)) }
      }
    },
  },
  {
    lie: 'makes a claim for each of several calls at once',
    fails: [
      'stays in order when the signal of a claim that ends makes its owner claim again',
      'answers one and the same claim to all that claim at once',
    ],
    ownership: class extends HonestOwnership {
      #underWay = 0
      override async claim(subscriptions: readonly string[], options?: ClaimOptions): Promise<ClaimOutcome> {
        this.#underWay++
        try {
          return await super.claim(subscriptions, options)
        } finally {
          this.#underWay--
        }
      }
      protected override adopt(wanted: readonly string[], askedAt: number): ClaimOutcome {
        if (this.#underWay > 1) for (const subscription of wanted) this.claims.delete(subscription)
        return super.adopt(wanted, askedAt)
      }
    },
  },
  {
    lie: 'forgets a claim that is granted after its release was asked for, but not at the backend',
    fails: ['leaves no claim that nobody knows, however claims and releases of one owner meet'],
    ownership: class extends HonestOwnership {
      readonly #released = new Set<string>()
      override async release(subscriptions: readonly string[]): Promise<void> {
        for (const subscription of subscriptions) if (!this.claims.has(subscription)) this.#released.add(subscription)
        await super.release(subscriptions)
        setImmediate(() => this.#released.clear())
      }
      protected override take(subscription: string): FakeClaim | null {
        const claim = super.take(subscription)
        if (claim && this.#released.has(subscription)) this.claims.delete(subscription)
        return claim
      }
    },
  },
  {
    lie: 'still lists in held what it is releasing',
    fails: [
      'ends a claim from the moment release() is called',
      'never lets two hold a subscription while one releases and the other claims',
    ],
    ownership: class extends HonestOwnership {
      #releasing: readonly (readonly [string, Claim])[] = []
      override get held(): ReadonlyMap<string, Claim> {
        return new Map([...super.held, ...this.#releasing])
      }
      override async release(subscriptions: readonly string[]): Promise<void> {
        this.#releasing = [...super.held].filter(([subscription]) => subscriptions.includes(subscription))
        await super.release(subscriptions)
        await new Promise((resolve) => setTimeout(resolve, 5))
        this.#releasing = []
      }
    },
  },
]
