import type { ClaimOutcome } from '@es/coordination-core'
import { type ClaimOptions, type FakeClaim, HonestOwnership } from './honest-ownership.fixture.js'
import type { Lie } from './lie.fixture.js'

export const releaseLies: readonly Lie[] = [
  {
    lie: 'releases everything with one',
    fails: [
      'keeps the token of a claim while more is claimed and released',
      'lets the rival claim what was released, and nothing else',
      'ends a claim from the moment release() is called',
      'lists in held what it holds, and nothing else, throughout',
    ],
    ownership: class extends HonestOwnership {
      override async release(subscriptions: readonly string[]): Promise<void> {
        await super.release(subscriptions.some((subscription) => this.claims.has(subscription)) ? [...this.claims.keys()] : [])
      }
    },
  },
  {
    lie: 'frees at the backend everything with one',
    fails: ['lets the rival claim what was released, and nothing else'],
    ownership: class extends HonestOwnership {
      protected override free(claims: readonly FakeClaim[]): void {
        if (claims.length > 0) this.backend.takeAway(this)
      }
    },
  },
  {
    lie: 'keeps claims until the backend confirms the release',
    fails: [
      'ends a claim from the moment release() is called',
      'leaves no claim that nobody knows, however claims and releases of one owner meet',
    ],
    ownership: class extends HonestOwnership {
      override async release(subscriptions: readonly string[]): Promise<void> {
        const ending = subscriptions.flatMap((subscription) => this.claims.get(subscription) ?? [])
        await this.ask(() => this.free(ending), 2)
        for (const claim of this.forget(subscriptions)) claim.end('claim_released')
      }
    },
  },
  {
    lie: 'aborts the signal before the claim is out of held',
    fails: ['ends a claim from the moment release() is called'],
    ownership: class extends HonestOwnership {
      override async release(subscriptions: readonly string[]): Promise<void> {
        for (const subscription of subscriptions) this.claims.get(subscription)?.end('claim_released')
        await super.release(subscriptions)
      }
    },
  },
  {
    lie: 'does not abort the signal of what is released',
    fails: [
      'ends a claim from the moment release() is called',
      'makes a new claim of what was released, and leaves the old one ended',
      'stays in order when the signal of a claim that ends makes its owner claim again',
    ],
    ownership: class extends HonestOwnership {
      override async release(subscriptions: readonly string[]): Promise<void> {
        const ended = this.forget(subscriptions)
        if (ended.length > 0) await this.ask(() => this.free(ended), 2)
      }
    },
  },
  {
    lie: 'calls a release a loss',
    fails: ['ends a claim from the moment release() is called', 'makes a new claim of what was released, and leaves the old one ended'],
    ownership: class extends HonestOwnership {
      override async release(subscriptions: readonly string[]): Promise<void> {
        const ended = this.forget(subscriptions)
        if (ended.length === 0) return
        const freed = this.ask(() => this.free(ended), 2)
        for (const claim of ended) claim.end('claim_lost')
        await freed
      }
    },
  },
  {
    lie: 'does not wait for the backend to let go',
    fails: [
      'answers once what it is asked for twice',
      'answers what it holds with the claim that exists',
      'takes names of any spelling, and keeps apart those that look alike',
      'takes a batch of 500',
      'refuses a batch beyond what the backend can hold, and holds nothing new of it',
      'has a larger token with every claim on a subscription, whoever claims it',
      'has larger tokens for each subscription, however the batches overlap',
      'lets the rival claim what was released, and nothing else',
      'has let go when release() resolves, however often both claim in turn',
      'needs one release, however often it was claimed',
      'skips what it does not hold',
      'lets both observe who holds what, and nothing of what is free or was not asked for',
      'never lets two hold a subscription while one releases and the other claims',
      'answers one and the same claim to all that claim at once',
    ],
    ownership: class extends HonestOwnership {
      protected override free(claims: readonly FakeClaim[]): void {
        // Behind whatever is asked in answer to the release.
        const { backend } = this
        backend.send(this, () => backend.send(this, () => backend.send(this, () => super.free(claims))))
      }
    },
  },
  {
    lie: 'takes the lock again with each claim, and needs as many releases',
    fails: [
      'answers what it holds with the claim that exists',
      'needs one release, however often it was claimed',
      'answers one and the same claim to all that claim at once',
    ],
    ownership: class extends HonestOwnership {
      #taken = 0
      protected override adopt(wanted: readonly string[], askedAt: number): ClaimOutcome {
        if (wanted.some((subscription) => this.claims.has(subscription))) this.#taken++
        return super.adopt(wanted, askedAt)
      }
      protected override free(claims: readonly FakeClaim[]): void {
        if (this.#taken-- <= 0) super.free(claims)
      }
    },
  },
  {
    lie: 'frees what it does not hold',
    fails: ['skips what it does not hold', 'does not touch what the rival claimed after a loss'],
    ownership: class extends HonestOwnership {
      override async release(subscriptions: readonly string[]): Promise<void> {
        const strangers = subscriptions.filter((subscription) => !this.claims.has(subscription))
        await super.release(subscriptions)
        // The highest tokens that there have been.
        for (const subscription of strangers) for (let token = 0n; token < 200n; token++) this.backend.free(subscription, token)
      }
    },
  },
  {
    lie: 'rejects when it is asked to release what it does not hold',
    fails: [
      'ends a claim from the moment release() is called',
      'skips what it does not hold',
      'lists in held what it holds, and nothing else, throughout',
      'gives each subscription to exactly one of two batches that race, over and over',
      'leaves no claim that nobody knows, however claims and releases of one owner meet',
      'ends all claims as lost, each once',
      'does not touch what the rival claimed after a loss',
    ],
    ownership: class extends HonestOwnership {
      override async release(subscriptions: readonly string[]): Promise<void> {
        const isMine = subscriptions.every((subscription) => this.claims.has(subscription))
        await super.release(subscriptions)
        if (!isMine) throw new Error('not held')
      }
    },
  },
  {
    lie: 'brings the old claim back when a subscription is claimed again',
    fails: [
      'makes a new claim of what was released, and leaves the old one ended',
      'has larger tokens after a loss, whoever claims, and leaves the lost claims ended',
    ],
    ownership: class extends HonestOwnership {
      readonly #old = new Map<string, FakeClaim>()
      protected override newClaim(subscription: string, token: bigint): FakeClaim {
        const known = this.#old.get(subscription)
        const claim = super.newClaim(subscription, token)
        this.#old.set(subscription, claim)
        if (known) Object.defineProperty(known, 'isHeld', { get: () => this.claims.get(subscription) === claim })
        return claim
      }
    },
  },
  {
    lie: 'lets go of what a listener claims inside the release',
    fails: ['stays in order when the signal of a claim that ends makes its owner claim again'],
    ownership: class extends HonestOwnership {
      override async release(subscriptions: readonly string[]): Promise<void> {
        const ended = this.forget(subscriptions)
        if (ended.length === 0) return
        for (const claim of ended) claim.end('claim_released')
        // Behind what the listeners sent.
        await this.ask(() => {
          for (const subscription of subscriptions) if (this.claims.has(subscription)) this.backend.takeAway(this)
          this.free(ended)
        }, 2)
      }
    },
  },
  {
    lie: 'ends its claims one after the other, so that a listener is granted what ends next',
    fails: ['stays in order when the signal of a claim that ends makes its owner claim again'],
    ownership: class extends HonestOwnership {
      override async release(subscriptions: readonly string[]): Promise<void> {
        if (subscriptions.length > 1) await Promise.all(subscriptions.map((subscription) => this.release([subscription])))
        else await super.release(subscriptions)
      }
      override async claim(subscriptions: readonly string[], options: ClaimOptions = {}): Promise<ClaimOutcome> {
        const known = subscriptions.flatMap((subscription) => this.claims.get(subscription) ?? [])
        if (known.length === 0 || options.signal?.aborted || this.isClosed || !this.isConnected)
          return await super.claim(subscriptions, options)
        const rest = await super.claim(subscriptions, options)
        const claimed = new Map([...known, ...rest.claimed].map((claim) => [claim.subscription, claim]))
        for (const claim of known) claimed.set(claim.subscription, claim)
        return {
          claimed: subscriptions.flatMap((subscription) => claimed.get(subscription) ?? []),
          denied: rest.denied.filter(({ subscription }) => !claimed.has(subscription)),
        }
      }
    },
  },
]
