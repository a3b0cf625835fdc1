import assert from 'node:assert/strict'
import { type Claim, type ClaimHolder, type ClaimOutcome, CoordinationError, type Ownership } from '@es/coordination-core'
import { ConformanceStage } from '../conformance/conformance-stage.js'
import type { OwnershipContest, OwnershipPowers } from './ownership-world.js'

type ClaimOptions = Parameters<Ownership['claim']>[1]

/** What a case works with: the two contenders of a backend of its own. */
export class OwnershipStage extends ConformanceStage<OwnershipContest, OwnershipPowers> {
  get first(): Ownership {
    return this.setup.contenders[0]
  }

  get second(): Ownership {
    return this.setup.contenders[1]
  }

  get contenders(): readonly [Ownership, Ownership] {
    return this.setup.contenders
  }

  claim(owner: Ownership, subscriptions: readonly string[], options: ClaimOptions = {}): Promise<ClaimOutcome> {
    return this.soon(`claim() of ${owner.instanceId}`, owner.claim(subscriptions, options))
  }

  async release(owner: Ownership, subscriptions: readonly string[]): Promise<void> {
    if (subscriptions.length > 0) await this.soon(`release() of ${owner.instanceId}`, owner.release(subscriptions))
  }

  observe(owner: Ownership, subscriptions: readonly string[]): Promise<ReadonlyMap<string, ClaimHolder>> {
    return this.soon(`observe() of ${owner.instanceId}`, owner.observe(subscriptions))
  }

  /** Claims what is free, in a case about something else. */
  async own(owner: Ownership, subscriptions: readonly string[]): Promise<readonly Claim[]> {
    if (subscriptions.length === 0) return []
    const { claimed } = await this.claim(owner, subscriptions)
    assertNames(names(claimed), subscriptions, `claim() of ${owner.instanceId} should have been granted altogether: all of it is free`)
    return claimed
  }

  /** Claims one that is free, in a case about something else. */
  async ownOne(owner: Ownership, subscription: string): Promise<Claim> {
    const [claim] = await this.own(owner, [subscription])
    assert.ok(claim)
    return claim
  }

  /** Fails unless `owner` is granted none of `subscriptions`. */
  async assertDenied(owner: Ownership, subscriptions: readonly string[], because: string): Promise<void> {
    if (subscriptions.length === 0) return
    const { claimed, denied } = await this.claim(owner, subscriptions)
    assertNames(names(claimed), [], because)
    assertNames(names(denied), subscriptions, because)
  }

  /** Waits until `owner` holds all of `subscriptions`, for which it asks over and over. */
  async ownEventually(what: string, owner: Ownership, subscriptions: readonly string[], extraSeconds = 0): Promise<readonly Claim[]> {
    if (subscriptions.length === 0) return []
    const claimAll = async (): Promise<readonly Claim[] | null> => {
      const { claimed } = await owner.claim(subscriptions)
      return claimed.length === subscriptions.length ? claimed : null
    }
    return await this.eventually(what, claimAll, extraSeconds)
  }

  /** Watches, every millisecond, whether two claims on one subscription are held by different contenders; the returned function fails if ever they were. */
  watchForTwoOwners(): () => void {
    const [first, second] = this.contenders
    const twice = new Set<string>()
    const look = (): void => {
      for (const subscription of first.held.keys()) if (second.held.has(subscription)) twice.add(subscription)
    }
    this.watch(look)
    return () => {
      look()
      assert.deepEqual([...twice], [], 'both contenders held a subscription at one instant')
    }
  }

  get refusesBatchOf(): number {
    return this.power('refusesBatchOf')
  }

  async loseClaims(owner: Ownership): Promise<void> {
    await this.soon('loseClaims() of the world', this.power('loseClaims')(this.setup, owner))
  }

  disconnect(owner: Ownership): Promise<() => Promise<void>> {
    return this.breakUntilMended('disconnect() of the world', this.power('disconnect')(this.setup, owner))
  }

  hang(): Promise<() => Promise<void>> {
    return this.breakUntilMended('hang() of the world', this.power('hang')(this.setup))
  }

  get leaseSeconds(): number {
    return this.power('leaseExpiry').leaseSeconds
  }

  cutOff(owner: Ownership): Promise<() => Promise<void>> {
    return this.breakUntilMended('cutOff() of the world', this.power('leaseExpiry').cutOff(this.setup, owner))
  }

  closeOwnership(owner: Ownership): Promise<void> {
    return this.soon('close() of an ownership', this.power('close')(this.setup, owner))
  }
}

/** `count` names that belong together. */
export function subscriptions(count: number, prefix = 's'): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}${index + 1}`)
}

/** The subscriptions of claims, granted or denied. */
export function names(claims: readonly { readonly subscription: string }[]): readonly string[] {
  return claims.map(({ subscription }) => subscription)
}

/** Fails unless both are the same, with the first difference alone: that of hundreds of names takes long to make, and longer to read. */
export function assertNames(actual: readonly string[], expected: readonly string[], because: string): void {
  const length = Math.max(actual.length, expected.length)
  const index = Array.from({ length }, (_, position) => actual[position] !== expected[position]).indexOf(true)
  if (index === -1) return
  const [got, wanted] = [actual, expected].map((all) => (index < all.length ? JSON.stringify(all[index]) : 'nothing'))
  assert.fail(`${because}: got ${actual.length} instead of ${expected.length}, and at position ${index + 1} ${got} instead of ${wanted}`)
}

/** Fails unless `owner` holds exactly these claims. */
export function assertHolds(owner: Ownership, claims: readonly Claim[], when: string): void {
  const held = [...owner.held].toSorted(([a], [b]) => (a < b ? -1 : 1))
  const expected = claims.map((claim) => [claim.subscription, claim] as const).toSorted(([a], [b]) => (a < b ? -1 : 1))
  assertNames(
    held.map(([subscription]) => subscription),
    expected.map(([subscription]) => subscription),
    `held of ${owner.instanceId} must name what it holds, ${when}`,
  )
  assert.ok(
    held.every(([, claim], index) => claim === expected[index]?.[1]),
    `held of ${owner.instanceId} must have the claims that were granted, ${when}`,
  )
  for (const claim of claims) {
    assert.equal(claim.isHeld, true, `isHeld of a claim that is held, ${when}`)
    assert.equal(claim.signal.aborted, false, `the signal of a claim that is held must not be aborted, ${when}`)
  }
}

/** Fails unless `claim` has ended for this reason. */
export function assertEnded(claim: Claim, code: 'claim_released' | 'claim_lost', when: string): void {
  const { reason, aborted } = claim.signal
  assert.equal(claim.isHeld, false, `isHeld must be false ${when}`)
  assert.equal(aborted, true, `the signal must be aborted ${when}`)
  assert.ok(reason instanceof CoordinationError, `the reason of the signal must be a CoordinationError ${when}`)
  assert.equal(reason.code, code, `the code of the reason of the signal ${when}`)
}
