import { FakeClaim, HonestOwnership } from './honest-ownership.fixture.js'
import type { Lie } from './lie.fixture.js'

export const outsideLossLies: readonly Lie[] = [
  {
    lie: 'does not notice that the backend took its claims away',
    fails: [
      'ends all claims as lost, each once',
      'has larger tokens after a loss, whoever claims, and leaves the lost claims ended',
      'does not touch what the rival claimed after a loss',
    ],
    ownership: class extends HonestOwnership {
      override onTakenAway(): void {}
    },
  },
  {
    lie: 'ends the first of the claims that it lost alone',
    fails: ['ends all claims as lost, each once', 'does not touch what the rival claimed after a loss'],
    ownership: class extends HonestOwnership {
      override onTakenAway(): void {
        this.backend.send(this, () => {
          for (const claim of this.forget([...this.claims.keys()].slice(0, 1))) claim.end('claim_lost')
        })
      }
    },
  },
  {
    lie: 'calls a loss a release',
    fails: ['ends all claims as lost, each once', 'has larger tokens after a loss, whoever claims, and leaves the lost claims ended'],
    ownership: class extends HonestOwnership {
      override onTakenAway(): void {
        this.backend.send(this, () => {
          for (const claim of this.forget([...this.claims.keys()])) claim.end('claim_released')
        })
      }
    },
  },
  {
    lie: 'aborts the signal of a lost claim before it is out of held',
    fails: ['ends all claims as lost, each once'],
    ownership: class extends HonestOwnership {
      override onTakenAway(): void {
        this.backend.send(this, () => {
          for (const claim of this.claims.values()) claim.end('claim_lost')
          this.lose()
        })
      }
    },
  },
  {
    lie: 'starts to count its tokens anew after a loss',
    fails: ['has larger tokens after a loss, whoever claims, and leaves the lost claims ended'],
    ownership: class extends HonestOwnership {
      #offset = 0n
      override onTakenAway(): void {
        this.#offset = 1_000n
        super.onTakenAway()
      }
      protected override newClaim(subscription: string, token: bigint): FakeClaim {
        return new FakeClaim(subscription, token - this.#offset, () => this.isTrusted())
      }
      protected override free(claims: readonly FakeClaim[]): void {
        for (const { subscription, fencingToken } of claims) {
          this.backend.free(subscription, fencingToken)
          this.backend.free(subscription, fencingToken + this.#offset)
        }
      }
    },
  },
  {
    lie: 'frees once more what it lost when it is released, whoever holds it',
    fails: ['does not touch what the rival claimed after a loss'],
    ownership: class extends HonestOwnership {
      #lost: readonly string[] = []
      override onTakenAway(): void {
        this.#lost = [...this.claims.keys()]
        super.onTakenAway()
      }
      override async release(subscriptions: readonly string[]): Promise<void> {
        const lost = this.#lost.filter((subscription) => subscriptions.includes(subscription) && !this.claims.has(subscription))
        await super.release(subscriptions)
        for (const subscription of lost) for (let token = 0n; token < 200n; token++) this.backend.free(subscription, token)
      }
    },
  },
]
