import assert from 'node:assert/strict'
import { setTimeout as wait } from 'node:timers/promises'
import type { CaseGroup } from './case-definition.js'

export const leaseCases: CaseGroup = {
  name: 'lease',
  cases: [
    {
      name: 'keeps leading past its lease while it is renewed',
      needs: ['leaseExpiry'],
      lasts: (leaseSeconds) => leaseSeconds * 1.5,
      async run(stage) {
        const { first, second, leaseSeconds } = stage
        const changes = stage.changesOf(first)
        await stage.acquire(first)
        const end = performance.now() + leaseSeconds * 1500
        while (performance.now() < end) {
          await wait(leaseSeconds * 200)
          assert.equal(await stage.renew(first), true, 'a renewal in good time must answer true')
          assert.equal(await stage.tryAcquire(second), false, 'the rival won while the leader was renewing')
        }
        assert.deepEqual(changes, [true], 'a leader that renews must not lose leadership')
      },
    },
    {
      name: 'stops leading within its lease when it is cut off, before a rival leads',
      needs: ['leaseExpiry'],
      lasts: (leaseSeconds) => leaseSeconds * 3,
      async run(stage) {
        const { first, second, leaseSeconds } = stage
        await stage.acquire(first)
        const assertNeverTwo = stage.watchForTwoLeaders()
        const deadline = performance.now() + leaseSeconds * 1000
        await stage.cutOff(first)
        let ledTooLong = false
        await stage.eventually(
          'the rival to lead after the lease ran out',
          async () => {
            // The clock is read before the answer, so that a slow machine is not held against the elector.
            const isLate = performance.now() > deadline
            ledTooLong ||= isLate && first.isLeader
            return second.tryAcquire()
          },
          leaseSeconds * 2,
        )
        assert.equal(ledTooLong, false, `isLeader was still true more than ${leaseSeconds} s after the leader was cut off`)
        assert.equal(first.isLeader, false, 'isLeader is true although a rival leads')
        assertNeverTwo()
      },
    },
    {
      name: 'tells the loss once although nothing answers',
      needs: ['leaseExpiry'],
      lasts: (leaseSeconds) => leaseSeconds * 2,
      async run(stage) {
        const { first, second, leaseSeconds } = stage
        const changes = stage.changesOf(first)
        await stage.acquire(first)
        const heal = await stage.cutOff(first)
        await stage.eventually('the loss to be told', () => changes.length >= 2, leaseSeconds)
        await stage.eventually('the rival to lead', () => second.tryAcquire(), leaseSeconds)
        await heal()
        await stage.eventually('the former leader to be refused', async () => !(await first.tryAcquire()))
        assert.deepEqual(changes, [true, false], 'the loss must be told, once')
      },
    },
    {
      name: 'can lead again after it was cut off',
      needs: ['leaseExpiry'],
      lasts: (leaseSeconds) => leaseSeconds * 4,
      async run(stage) {
        const { first, second, leaseSeconds } = stage
        await stage.acquire(first)
        const heal = await stage.cutOff(first)
        await stage.eventually('the rival to lead', () => second.tryAcquire(), leaseSeconds * 2)
        await heal()
        await stage.release(second)
        await stage.eventually('the former leader to lead again', () => first.tryAcquire(), leaseSeconds)
        assert.equal(await stage.tryAcquire(second), false, 'the rival must be refused now')
      },
    },
  ],
}
