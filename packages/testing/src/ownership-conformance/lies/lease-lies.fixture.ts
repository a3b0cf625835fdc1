import { type ClaimOutcome, ConnectionError } from '@es/coordination-core'
import { type ClaimOptions, type FakeClaim, HonestOwnership } from './honest-ownership.fixture.js'
import type { Lie } from './lie.fixture.js'

export const leaseLies: readonly Lie[] = [
  {
    lie: 'does not renew',
    slowPower: 'leaseExpiry',
    fails: ['keeps its claims past the lease while it can be heard'],
    ownership: class extends HonestOwnership {
      protected override async renew(): Promise<void> {}
    },
  },
  {
    lie: 'believes in its lease for ever',
    slowPower: 'leaseExpiry',
    fails: [
      'ends its claims within the lease when it is cut off, before a rival claims',
      'aborts the signals of its claims although nothing answers',
      'holds nothing on the first line that runs after a pause longer than the lease',
    ],
    ownership: class extends HonestOwnership {
      protected override isTrusted(): boolean {
        return true
      }
    },
  },
  {
    lie: 'believes in its lease for half of it too long',
    slowPower: 'leaseExpiry',
    fails: [
      'ends its claims within the lease when it is cut off, before a rival claims',
      'holds nothing on the first line that runs after a pause longer than the lease',
    ],
    ownership: class extends HonestOwnership {
      protected override trustFrom(askedAt: number): void {
        super.trustFrom(askedAt)
        this.trustedUntil += this.backend.leaseSeconds * 700
      }
      protected override onUntrusted(): void {
        setTimeout(() => super.onUntrusted(), Math.ceil(this.trustedUntil - performance.now()) + 1)
      }
    },
  },
  {
    lie: 'learns from a timer that its lease ran out',
    slowPower: 'leaseExpiry',
    fails: ['holds nothing on the first line that runs after a pause longer than the lease'],
    ownership: class extends HonestOwnership {
      #isOver = false
      protected override isTrusted(): boolean {
        return !this.#isOver
      }
      protected override trustFrom(askedAt: number): void {
        this.#isOver = false
        super.trustFrom(askedAt)
      }
      protected override onUntrusted(): void {
        this.#isOver = performance.now() >= this.trustedUntil
        super.onUntrusted()
      }
    },
  },
  {
    lie: 'does not abort the signals when its lease ran out, before it is asked',
    slowPower: 'leaseExpiry',
    fails: ['aborts the signals of its claims although nothing answers'],
    ownership: class extends HonestOwnership {
      protected override onUntrusted(): void {}
    },
  },
  {
    lie: 'never asks again once it was cut off',
    slowPower: 'leaseExpiry',
    fails: ['can claim again after it was cut off, with a larger token'],
    ownership: class extends HonestOwnership {
      #isBroken = false
      override async claim(subscriptions: readonly string[], options?: ClaimOptions): Promise<ClaimOutcome> {
        if (this.#isBroken) throw new ConnectionError('connection_lost', 'the connection was lost')
        return await super.claim(subscriptions, options)
      }
      protected override onUntrusted(): void {
        super.onUntrusted()
        this.#isBroken = true
      }
    },
  },
  {
    lie: 'takes its lost claims up again when it is heard again',
    slowPower: 'leaseExpiry',
    fails: [
      'has larger tokens after a loss, whoever claims, and leaves the lost claims ended',
      'can claim again after it was cut off, with a larger token',
    ],
    ownership: class extends HonestOwnership {
      readonly #first = new Map<string, FakeClaim>()
      protected override newClaim(subscription: string, token: bigint): FakeClaim {
        const known = this.#first.get(subscription)
        const claim = super.newClaim(
          subscription,
          known?.signal.aborted && known.signal.reason.code === 'claim_lost' ? known.fencingToken : token,
        )
        this.#first.set(subscription, claim)
        return claim
      }
    },
  },
]
