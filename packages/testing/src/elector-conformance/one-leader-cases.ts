import assert from 'node:assert/strict'
import type { CaseGroup } from './case-definition.js'

export const oneLeaderCases: CaseGroup = {
  name: 'one leader',
  cases: [
    {
      name: 'makes the first that asks the leader',
      async run(stage) {
        assert.equal(await stage.tryAcquire(stage.first), true, 'tryAcquire() must answer true when nobody leads')
        assert.equal(stage.first.isLeader, true, 'isLeader must be true after tryAcquire() answered true')
        assert.equal(stage.second.isLeader, false, 'the rival never asked')
      },
    },
    {
      name: 'refuses a rival at once while another one leads',
      async run(stage) {
        await stage.acquire(stage.first)
        assert.equal(await stage.tryAcquire(stage.second), false, 'tryAcquire() must answer false while another one leads')
        assert.equal(stage.second.isLeader, false, 'the refused rival leads')
        assert.equal(stage.first.isLeader, true, 'the leader lost leadership to a rival that was refused')
      },
    },
    {
      name: 'answers true to the leader that asks again',
      async run(stage) {
        await stage.acquire(stage.first)
        for (let again = 0; again < 3; again++) {
          assert.equal(await stage.tryAcquire(stage.first), true, 'tryAcquire() of the leader must answer true')
          assert.equal(stage.first.isLeader, true, 'the leader lost leadership by asking again')
        }
      },
    },
    {
      name: 'lets the rival lead after a release',
      async run(stage) {
        await stage.acquire(stage.first)
        await stage.release(stage.first)
        assert.equal(stage.first.isLeader, false, 'isLeader must be false after release()')
        assert.equal(await stage.tryAcquire(stage.second), true, 'tryAcquire() of the rival must answer true after release()')
        assert.equal(stage.second.isLeader, true, 'the rival must lead')
        assert.equal(await stage.tryAcquire(stage.first), false, 'the former leader must be refused now')
      },
    },
    {
      name: 'gives up with one release, however often it asked and renewed',
      async run(stage) {
        for (let again = 0; again < 3; again++) await stage.tryAcquire(stage.first)
        for (let again = 0; again < 5; again++) await stage.renew(stage.first)
        await stage.release(stage.first)
        assert.equal(await stage.tryAcquire(stage.second), true, 'leadership is still held after release(): it was taken more than once')
      },
    },
    {
      name: 'does nothing when one that does not lead releases',
      async run(stage) {
        const changes = stage.contenders.map((elector) => stage.changesOf(elector))
        await stage.release(stage.second)
        await stage.acquire(stage.first)
        await stage.release(stage.second)
        await stage.release(stage.second)
        assert.equal(stage.first.isLeader, true, 'the leader lost leadership when its rival released')
        assert.equal(await stage.tryAcquire(stage.second), false, 'the rival freed what the leader holds')
        await stage.release(stage.first)
        await stage.release(stage.first)
        await stage.acquire(stage.second)
        // The later changes show that nothing else is still on its way.
        assert.deepEqual(changes, [[true, false], [true]], 'a release by one that does not lead must tell nobody')
      },
    },
    {
      name: 'lets both lead in turn, as often as they ask',
      async run(stage) {
        for (let round = 0; round < 5; round++) {
          for (const elector of stage.contenders) {
            await stage.acquire(elector)
            await stage.release(elector)
          }
        }
      },
    },
  ],
}
