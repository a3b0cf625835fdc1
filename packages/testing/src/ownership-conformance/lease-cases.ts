import assert from 'node:assert/strict'
import { setTimeout as wait } from 'node:timers/promises'
import type { CaseGroup } from './case-group.js'
import { assertEnded, assertHolds } from './ownership-stage.js'

export const leaseCases: CaseGroup = {
  name: 'lease',
  cases: [
    {
      name: 'keeps its claims past the lease while it can be heard',
      needs: ['leaseExpiry'],
      lasts: (leaseSeconds) => leaseSeconds * 1.5,
      async run(stage) {
        const { first, second, leaseSeconds } = stage
        const claims = await stage.own(first, ['s1', 's2'])
        const end = performance.now() + leaseSeconds * 1500
        while (performance.now() < end) {
          await wait(leaseSeconds * 200)
          await stage.assertDenied(second, ['s1', 's2'], 'the rival was granted what its owner holds')
          assertHolds(first, claims, 'while nothing is wrong')
        }
      },
    },
    {
      name: 'ends its claims within the lease when it is cut off, before a rival claims',
      needs: ['leaseExpiry'],
      lasts: (leaseSeconds) => leaseSeconds * 3,
      async run(stage) {
        const { first, second, leaseSeconds } = stage
        const claims = await stage.own(first, ['s1', 's2'])
        const assertNeverTwo = stage.watchForTwoOwners()
        const deadline = performance.now() + leaseSeconds * 1000
        await stage.cutOff(first)
        let heldTooLong = false
        await stage.eventually(
          'the rival to claim after the lease ran out',
          async () => {
            // The clock is read before the answer, so that a slow machine is not held against the owner.
            const isLate = performance.now() > deadline
            heldTooLong ||= isLate && (first.held.size > 0 || claims.some(({ isHeld }) => isHeld))
            const { claimed } = await second.claim(['s1', 's2'])
            const isStillHeld = claims.some(({ isHeld }) => isHeld)
            assert.ok(claimed.length === 0 || !isStillHeld, 'a claim was still held when the rival got its subscription')
            return second.held.size === 2
          },
          leaseSeconds * 2,
        )
        assert.equal(heldTooLong, false, `claims were still held more than ${leaseSeconds} s after their owner was cut off`)
        for (const { isHeld } of claims) assert.equal(isHeld, false, 'isHeld is true although the rival holds the subscription')
        assertNeverTwo()
      },
    },
    {
      name: 'aborts the signals of its claims although nothing answers',
      needs: ['leaseExpiry'],
      lasts: (leaseSeconds) => leaseSeconds * 2,
      async run(stage) {
        const { first, leaseSeconds } = stage
        const claims = await stage.own(first, ['s1', 's2'])
        await stage.cutOff(first)
        await stage.eventually('all signals to be aborted', () => claims.every(({ signal }) => signal.aborted), leaseSeconds)
        for (const claim of claims) assertEnded(claim, 'claim_lost', 'after the lease ran out')
        assertHolds(first, [], 'after the lease ran out')
      },
    },
    {
      name: 'can claim again after it was cut off, with a larger token',
      needs: ['leaseExpiry'],
      lasts: (leaseSeconds) => leaseSeconds * 4,
      async run(stage) {
        const { first, second, leaseSeconds } = stage
        const lost = await stage.ownOne(first, 's1')
        const heal = await stage.cutOff(first)
        const [theirs] = await stage.ownEventually('the rival to claim', second, ['s1'], leaseSeconds * 2)
        await heal()
        await stage.release(second, ['s1'])
        const [claim] = await stage.ownEventually('the one that was cut off to claim again', first, ['s1'], leaseSeconds)
        assert.ok(claim && theirs && theirs.fencingToken > lost.fencingToken, 'the rival must have a larger token')
        assert.ok(claim.fencingToken > theirs.fencingToken, 'the one that claims again must have a larger token')
        assertEnded(lost, 'claim_lost', 'after its subscription was claimed again')
        assertHolds(first, [claim], 'after it claimed again')
      },
    },
    {
      name: 'holds nothing on the first line that runs after a pause longer than the lease',
      needs: ['leaseExpiry'],
      lasts: (leaseSeconds) => leaseSeconds * 2,
      async run(stage) {
        const { first, leaseSeconds } = stage
        const [claim] = await stage.own(first, ['s1'])
        assert.ok(claim)
        // Stops the whole process, timers included, as a long garbage collection or SIGSTOP does.
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, leaseSeconds * 1000)
        assert.deepEqual([claim.isHeld, first.held.size], [false, 0], 'isHeld and held must be computed from the clock')
        await stage.eventually('the signal to be aborted', () => claim.signal.aborted)
        assertEnded(claim, 'claim_lost', 'after the pause')
      },
    },
  ],
}
