import { type ClaimHolder, type ClaimOutcome, CoordinationError } from '@es/coordination-core'
import type { FakeClaims } from './fake-claims.fixture.js'
import { type ClaimOptions, type FakeClaim, HonestOwnership, MAX_CLAIMS } from './honest-ownership.fixture.js'
import type { Lie } from './lie.fixture.js'

export const claimLies: readonly Lie[] = [
  {
    lie: 'takes away what its rival holds',
    fails: [
      'denies what its rival holds, and leaves it to the rival',
      'names the holder of what it denies',
      'grants the part of a batch that is free',
      'answers in the order asked, whatever is free, held or denied',
      'answers once what it is asked for twice',
      'takes names of any spelling, and keeps apart those that look alike',
      'takes a batch of 500',
      'lets the rival claim what was released, and nothing else',
      'skips what it does not hold',
      'stays in order when the signal of a claim that ends makes its owner claim again',
      'lists in held what it holds, and nothing else, throughout',
      'gives each subscription to exactly one of two batches that race, over and over',
      'leaves no claim that nobody knows, however claims and releases of one owner meet',
      'keeps its claims when the signal of a finished call aborts',
      'does not touch what the rival claimed after a loss',
    ],
    ownership: class extends HonestOwnership {
      protected override take(subscription: string): FakeClaim | null {
        const holder = this.backend.holderOf(subscription)
        if (holder !== null && holder.instanceId !== this.instanceId) {
          const token = this.backend.take({ instanceId: this.instanceId }, subscription) ?? 999_999n
          const claim = this.newClaim(subscription, token)
          this.claims.set(subscription, claim)
          return claim
        }
        return super.take(subscription)
      }
    },
  },
  {
    lie: 'has numbers for tokens, which cannot count that far',
    fails: ['grants what is free'],
    ownership: class extends HonestOwnership {
      protected override newClaim(subscription: string, token: bigint): FakeClaim {
        return Object.assign(super.newClaim(subscription, token), { fencingToken: Number(token) })
      }
      protected override free(claims: readonly FakeClaim[]): void {
        for (const { subscription, fencingToken } of claims) this.backend.free(subscription, BigInt(fencingToken))
      }
    },
  },
  {
    lie: 'answers copies of the claims that it holds',
    fails: [
      'grants what is free',
      'denies what its rival holds, and leaves it to the rival',
      'grants the part of a batch that is free',
      'answers what it holds with the claim that exists',
      'takes names of any spelling, and keeps apart those that look alike',
      'takes a batch of 500',
      'refuses a batch beyond what the backend can hold, and holds nothing new of it',
      'lets the rival claim what was released, and nothing else',
      'ends a claim from the moment release() is called',
      'skips what it does not hold',
      'makes a new claim of what was released, and leaves the old one ended',
      'stays in order when the signal of a claim that ends makes its owner claim again',
      'lists in held what it holds, and nothing else, throughout',
      'gives each subscription to exactly one of two batches that race, over and over',
      'never lets two hold a subscription while one releases and the other claims',
      'answers one and the same claim to all that claim at once',
      'rejects with the reason of a signal that has been aborted, and holds nothing new',
      'keeps its claims when the signal of a finished call aborts',
      'ends all claims as lost, each once',
      'has larger tokens after a loss, whoever claims, and leaves the lost claims ended',
      'does not touch what the rival claimed after a loss',
      'releases everything when it is closed',
      'rejects calls with the code closed once it was closed, however often, while its rival goes on',
    ],
    ownership: class extends HonestOwnership {
      protected override adopt(wanted: readonly string[], askedAt: number): ClaimOutcome {
        const { claimed, denied } = super.adopt(wanted, askedAt)
        return { claimed: claimed.map(({ subscription, fencingToken }) => this.newClaim(subscription, fencingToken)), denied }
      }
    },
  },
  {
    lie: 'names itself as the holder of what it denies',
    fails: ['names the holder of what it denies'],
    ownership: class extends HonestOwnership {
      protected override adopt(wanted: readonly string[], askedAt: number): ClaimOutcome {
        const { claimed, denied } = super.adopt(wanted, askedAt)
        const holder: ClaimHolder = { instanceId: this.instanceId, detail: '' }
        return { claimed, denied: denied.map(({ subscription }) => ({ subscription, holder })) }
      }
    },
  },
  {
    lie: 'denies a batch altogether when a part of it is held',
    fails: [
      'names the holder of what it denies',
      'grants the part of a batch that is free',
      'answers in the order asked, whatever is free, held or denied',
      'takes names of any spelling, and keeps apart those that look alike',
      'lets the rival claim what was released, and nothing else',
      'gives each subscription to exactly one of two batches that race, over and over',
    ],
    ownership: class extends HonestOwnership {
      protected override adopt(wanted: readonly string[], askedAt: number): ClaimOutcome {
        const isFree = (subscription: string): boolean =>
          [this.instanceId, undefined].includes(this.backend.holderOf(subscription)?.instanceId)
        if (wanted.every(isFree)) return super.adopt(wanted, askedAt)
        return { claimed: [], denied: wanted.map((subscription) => ({ subscription, holder: this.backend.holderOf(subscription) })) }
      }
    },
  },
  {
    lie: 'answers what it held before first',
    fails: [
      'answers in the order asked, whatever is free, held or denied',
      'answers what it holds with the claim that exists',
      'keeps the token of a claim while more is claimed and released',
    ],
    ownership: class extends HonestOwnership {
      protected override adopt(wanted: readonly string[], askedAt: number): ClaimOutcome {
        const had = (subscription: string): number => (this.claims.has(subscription) ? 0 : 1)
        return super.adopt(
          wanted.toSorted((a, b) => had(a) - had(b)),
          askedAt,
        )
      }
    },
  },
  {
    lie: 'leaves out what was denied',
    fails: [
      'denies what its rival holds, and leaves it to the rival',
      'names the holder of what it denies',
      'grants the part of a batch that is free',
      'answers in the order asked, whatever is free, held or denied',
      'answers once what it is asked for twice',
      'takes names of any spelling, and keeps apart those that look alike',
      'takes a batch of 500',
      'skips what it does not hold',
      'stays in order when the signal of a claim that ends makes its owner claim again',
      'leaves no claim that nobody knows, however claims and releases of one owner meet',
      'keeps its claims when the signal of a finished call aborts',
      'does not touch what the rival claimed after a loss',
    ],
    ownership: class extends HonestOwnership {
      protected override adopt(wanted: readonly string[], askedAt: number): ClaimOutcome {
        return { ...super.adopt(wanted, askedAt), denied: [] }
      }
    },
  },
  {
    lie: 'answers twice what it is asked for twice',
    fails: ['answers once what it is asked for twice'],
    ownership: class extends HonestOwnership {
      override async claim(subscriptions: readonly string[], options?: ClaimOptions): Promise<ClaimOutcome> {
        const { claimed, denied } = await super.claim(subscriptions, options)
        const all = <T extends { readonly subscription: string }>(answers: readonly T[]): T[] =>
          subscriptions.flatMap((name) => answers.filter(({ subscription }) => subscription === name))
        return { claimed: all(claimed), denied: all(denied) }
      }
    },
  },
  {
    lie: 'makes a new claim of what it holds',
    fails: [
      'answers what it holds with the claim that exists',
      'stays in order when the signal of a claim that ends makes its owner claim again',
      'lists in held what it holds, and nothing else, throughout',
      'answers one and the same claim to all that claim at once',
    ],
    ownership: class extends HonestOwnership {
      protected override adopt(wanted: readonly string[], askedAt: number): ClaimOutcome {
        for (const subscription of wanted) {
          const claim = this.claims.get(subscription)
          if (claim) this.claims.set(subscription, this.newClaim(subscription, claim.fencingToken))
        }
        return super.adopt(wanted, askedAt)
      }
    },
  },
  {
    lie: 'denies what it holds itself',
    fails: [
      'answers in the order asked, whatever is free, held or denied',
      'answers what it holds with the claim that exists',
      'keeps the token of a claim while more is claimed and released',
      'answers one and the same claim to all that claim at once',
    ],
    ownership: class extends HonestOwnership {
      protected override adopt(wanted: readonly string[], askedAt: number): ClaimOutcome {
        const mine = new Set(this.claims.keys())
        const { claimed, denied } = super.adopt(wanted, askedAt)
        const again = claimed
          .filter(({ subscription }) => mine.has(subscription))
          .map(({ subscription }) => ({ subscription, holder: null }))
        return { claimed: claimed.filter(({ subscription }) => !mine.has(subscription)), denied: [...denied, ...again] }
      }
    },
  },
  {
    lie: 'takes an empty batch for a mistake',
    fails: ['answers an empty batch with nothing'],
    ownership: class extends HonestOwnership {
      override async claim(subscriptions: readonly string[], options?: ClaimOptions): Promise<ClaimOutcome> {
        if (subscriptions.length === 0) throw new CoordinationError('invalid_options', 'nothing to claim')
        return await super.claim(subscriptions, options)
      }
    },
  },
  {
    lie: 'takes an empty list to release for everything',
    fails: ['answers an empty batch with nothing'],
    ownership: class extends HonestOwnership {
      override async release(subscriptions: readonly string[]): Promise<void> {
        await super.release(subscriptions.length === 0 ? [...this.claims.keys()] : subscriptions)
        if (subscriptions.length === 0) throw new CoordinationError('invalid_options', 'nothing to release')
      }
    },
  },
  {
    lie: 'cuts names as the server cuts identifiers',
    fails: ['takes names of any spelling, and keeps apart those that look alike'],
    ownership: class extends HonestOwnership {
      protected override take(subscription: string): FakeClaim | null {
        const token = this.backend.take(this, subscription.slice(0, 63))
        const claim = token === null ? null : this.newClaim(subscription, token)
        if (claim) this.claims.set(subscription, claim)
        return claim
      }
      protected override free(claims: readonly FakeClaim[]): void {
        for (const { subscription, fencingToken } of claims) this.backend.free(subscription.slice(0, 63), fencingToken)
      }
    },
  },
  {
    lie: 'ignores the case of names',
    fails: ['takes names of any spelling, and keeps apart those that look alike'],
    ownership: class extends HonestOwnership {
      protected override take(subscription: string): FakeClaim | null {
        const twin = [...this.claims.keys()].find((other) => other !== subscription && other.toLowerCase() === subscription.toLowerCase())
        const rivals = [subscription.toLowerCase(), subscription.replace('a', 'A')].map((name) => this.backend.holderOf(name)?.instanceId)
        if (twin !== undefined || rivals.some((id) => id !== undefined && id !== this.instanceId)) return null
        return super.take(subscription)
      }
    },
  },
  {
    lie: 'grants a hundred of a batch at a time',
    fails: ['takes a batch of 500', 'refuses a batch beyond what the backend can hold, and holds nothing new of it'],
    ownership: class extends HonestOwnership {
      protected override adopt(wanted: readonly string[], askedAt: number): ClaimOutcome {
        const { claimed, denied } = super.adopt(wanted.slice(0, 100), askedAt)
        return { claimed, denied: [...denied, ...wanted.slice(100).map((subscription) => ({ subscription, holder: null }))] }
      }
    },
  },
  {
    lie: 'refuses a batch that is too large as a lost connection',
    fails: ['refuses a batch beyond what the backend can hold, and holds nothing new of it'],
    ownership: class extends HonestOwnership {
      protected override requireRoom(wanted: readonly string[]): void {
        if (wanted.length > MAX_CLAIMS) throw new CoordinationError('statement_failed', 'out of shared memory')
      }
    },
  },
  {
    lie: 'holds what it had locked before it refused the batch',
    fails: ['refuses a batch beyond what the backend can hold, and holds nothing new of it'],
    ownership: class extends HonestOwnership {
      protected override requireRoom(wanted: readonly string[]): void {
        if (wanted.length + this.claims.size > MAX_CLAIMS)
          for (const subscription of wanted.slice(0, 100)) this.backend.take(this, subscription)
        super.requireRoom(wanted)
      }
    },
  },
  {
    lie: 'has the instance id of its rival',
    fails: ['has an instance id that its rival does not have'],
    ownership: class extends HonestOwnership {
      constructor(_instanceId: string, backend: FakeClaims) {
        super('same', backend)
      }
    },
  },
]
