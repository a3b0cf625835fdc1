import type { Claim, ClaimHolder } from '@es/coordination-core'
import { HonestOwnership } from './honest-ownership.fixture.js'
import type { Lie } from './lie.fixture.js'

export const observationLies: readonly Lie[] = [
  {
    lie: 'observes its own claims alone',
    fails: [
      'takes names of any spelling, and keeps apart those that look alike',
      'takes a batch of 500',
      'lets both observe who holds what, and nothing of what is free or was not asked for',
    ],
    ownership: class extends HonestOwnership {
      override async observe(subscriptions: readonly string[]): Promise<ReadonlyMap<string, ClaimHolder>> {
        const seen = await super.observe(subscriptions)
        return new Map([...seen].filter(([, { instanceId }]) => instanceId === this.instanceId))
      }
    },
  },
  {
    lie: 'observes its rivals alone',
    fails: ['lets both observe who holds what, and nothing of what is free or was not asked for'],
    ownership: class extends HonestOwnership {
      override async observe(subscriptions: readonly string[]): Promise<ReadonlyMap<string, ClaimHolder>> {
        const seen = await super.observe(subscriptions)
        return new Map([...seen].filter(([subscription]) => !this.claims.has(subscription)))
      }
    },
  },
  {
    lie: 'observes all that was ever asked about',
    fails: [
      'takes names of any spelling, and keeps apart those that look alike',
      'lets both observe who holds what, and nothing of what is free or was not asked for',
    ],
    ownership: class extends HonestOwnership {
      override async observe(subscriptions: readonly string[]): Promise<ReadonlyMap<string, ClaimHolder>> {
        return await super.observe([...new Set([...subscriptions, ...this.claims.keys()])])
      }
    },
  },
  {
    lie: 'remembers what it once observed',
    fails: ['lets both observe who holds what, and nothing of what is free or was not asked for'],
    ownership: class extends HonestOwnership {
      readonly #seen = new Map<string, ClaimHolder>()
      override async observe(subscriptions: readonly string[]): Promise<ReadonlyMap<string, ClaimHolder>> {
        for (const [subscription, holder] of await super.observe(subscriptions)) this.#seen.set(subscription, holder)
        return new Map([...this.#seen].filter(([subscription]) => subscriptions.includes(subscription)))
      }
    },
  },
  {
    lie: 'lists in held what was denied',
    fails: [
      'denies what its rival holds, and leaves it to the rival',
      'grants the part of a batch that is free',
      'lets the rival claim what was released, and nothing else',
      'lists in held what it holds, and nothing else, throughout',
      'gives each subscription to exactly one of two batches that race, over and over',
    ],
    ownership: class extends HonestOwnership {
      readonly #denied = new Map<string, Claim>()
      override get held(): ReadonlyMap<string, Claim> {
        return new Map([...super.held, ...this.#denied])
      }
      override async claim(...call: Parameters<HonestOwnership['claim']>): ReturnType<HonestOwnership['claim']> {
        const outcome = await super.claim(...call)
        for (const { subscription } of outcome.denied) this.#denied.set(subscription, this.newClaim(subscription, 0n))
        return outcome
      }
    },
  },
  {
    lie: 'lists in held the latest batch alone',
    fails: [
      'lists in held what it holds, and nothing else, throughout',
      'leaves no claim that nobody knows, however claims and releases of one owner meet',
    ],
    ownership: class extends HonestOwnership {
      #latest: readonly string[] = []
      override get held(): ReadonlyMap<string, Claim> {
        return new Map([...super.held].filter(([subscription]) => this.#latest.includes(subscription)))
      }
      override async claim(...call: Parameters<HonestOwnership['claim']>): ReturnType<HonestOwnership['claim']> {
        const outcome = await super.claim(...call)
        this.#latest = outcome.claimed.map(({ subscription }) => subscription)
        return outcome
      }
    },
  },
]
