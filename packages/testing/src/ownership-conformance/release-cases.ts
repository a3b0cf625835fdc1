import assert from 'node:assert/strict'
import type { ClaimOutcome } from '@es/coordination-core'
import type { CaseGroup } from './case-group.js'
import { assertEnded, assertHolds, names } from './ownership-stage.js'

export const releaseCases: CaseGroup = {
  name: 'release',
  cases: [
    {
      name: 'lets the rival claim what was released, and nothing else',
      async run(stage) {
        const { first, second } = stage
        const [one, , three] = await stage.own(first, ['s1', 's2', 's3'])
        await stage.release(first, ['s2'])
        const { claimed } = await stage.claim(second, ['s1', 's2', 's3'])
        assert.deepEqual(names(claimed), ['s2'], 'only what was released may be granted to the rival')
        assert.ok(one && three)
        assertHolds(first, [one, three], 'after another claim was released')
        assertHolds(second, claimed, 'after it claimed what was released')
      },
    },
    {
      name: 'ends a claim from the moment release() is called',
      async run(stage) {
        const { first } = stage
        const [one, two] = await stage.own(first, ['s1', 's2'])
        assert.ok(one && two)
        const events: string[] = []
        one.signal.addEventListener('abort', () => events.push(`aborted, isHeld ${one.isHeld}, in held ${first.held.has('s1')}`))
        const released = first.release(['s1'])
        assertEnded(one, 'claim_released', 'as soon as release() is called')
        assertHolds(first, [two], 'as soon as release() is called')
        await stage.soon('release()', released)
        assertEnded(one, 'claim_released', 'after release()')
        await stage.release(first, ['s1', 's2'])
        assert.deepEqual(events, ['aborted, isHeld false, in held false'], 'the signal must abort once, when the claim is held no more')
      },
    },
    {
      name: 'has let go when release() resolves, however often both claim in turn',
      async run(stage) {
        for (let round = 0; round < 5; round++) {
          for (const owner of stage.contenders) {
            await stage.own(owner, ['s1', 's2'])
            await stage.release(owner, ['s2', 's1'])
          }
        }
      },
    },
    {
      name: 'needs one release, however often it was claimed',
      async run(stage) {
        const { first, second } = stage
        for (let again = 0; again < 3; again++) await stage.claim(first, ['s1', 's2'])
        await stage.release(first, ['s1', 's2'])
        await stage.own(second, ['s1', 's2'])
      },
    },
    {
      name: 'skips what it does not hold',
      async run(stage) {
        const { first, second } = stage
        const [claim] = await stage.own(second, ['s1'])
        await stage.own(first, ['s2'])
        await stage.release(first, ['s1', 'nobody has it', 's2'])
        await stage.release(first, ['s1', 's2'])
        assert.ok(claim)
        assertHolds(second, [claim], 'after its rival released what it does not hold')
        await stage.assertDenied(first, ['s1'], 'one that does not hold a subscription freed it')
        await stage.own(second, ['s2'])
      },
    },
    {
      name: 'makes a new claim of what was released, and leaves the old one ended',
      async run(stage) {
        const { first } = stage
        const old = await stage.ownOne(first, 's1')
        await stage.release(first, ['s1'])
        const claim = await stage.ownOne(first, 's1')
        assert.ok(old !== claim, 'the next claim must be another one')
        assertEnded(old, 'claim_released', 'after the subscription was claimed again')
        assertHolds(first, [claim], 'after the subscription was claimed again')
      },
    },
    {
      name: 'stays in order when the signal of a claim that ends makes its owner claim again',
      async run(stage) {
        const { first, second } = stage
        const all = ['s1', 's2']
        const old = await stage.own(first, all)
        const again = new Promise<ClaimOutcome>((resolve, reject) => {
          // Whichever is told first; the other claim must have ended by then too.
          for (const { signal } of old) signal.addEventListener('abort', () => void first.claim(all).then(resolve, reject))
        })
        await stage.release(first, all)
        const { claimed, denied } = await stage.soon('claim() inside a listener of the signal', again)
        assert.deepEqual([...names(claimed), ...names(denied)].toSorted(), all, 'each subscription must be in one of the lists')
        for (const claim of claimed)
          assert.ok(
            old.every(({ fencingToken }) => claim.fencingToken > fencingToken),
            'the new claim must have a larger token',
          )
        assertHolds(first, [...first.held.values()], 'after it claimed again inside a listener')
        for (const claim of claimed)
          assert.equal(first.held.get(claim.subscription), claim, 'what was granted inside a listener must be held')
        const held = names([...first.held.values()])
        await stage.assertDenied(second, held, 'the rival must be denied what its owner claimed again')
        const rest = all.filter((subscription) => !held.includes(subscription))
        await stage.ownEventually('the rival to claim what the owner did not get', second, rest)
      },
    },
  ],
}
