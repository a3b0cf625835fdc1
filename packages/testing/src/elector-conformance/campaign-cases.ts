import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { setImmediate as turn } from 'node:timers/promises'
import { assertRejectsWithReason } from '../conformance/rejections.js'
import type { CaseGroup } from './case-definition.js'

export const campaignCases: CaseGroup = {
  name: 'campaign',
  cases: [
    {
      name: 'wins at once when nobody leads, and has told its callbacks',
      needs: ['campaign'],
      async run(stage) {
        let told = 0
        stage.first.onLeaderChange(async () => {
          for (let turns = 0; turns < 5; turns++) await turn()
          told++
        })
        await stage.soon('campaign() while nobody leads', stage.campaign(stage.first))
        assert.equal(stage.first.isLeader, true, 'campaign() resolved without leadership')
        assert.equal(told, 1, 'campaign() resolved before the gain was told')
      },
    },
    {
      name: 'resolves at once for one that leads already, and tells nothing',
      needs: ['campaign'],
      async run(stage) {
        const changes = stage.changesOf(stage.first)
        await stage.acquire(stage.first)
        await stage.soon('campaign() of the leader', stage.campaign(stage.first))
        await stage.release(stage.first)
        assert.deepEqual(changes, [true, false], 'campaign() of the leader must tell nothing')
      },
    },
    {
      name: 'waits while a rival leads, and wins soon after its release without an instant of two leaders',
      needs: ['campaign'],
      async run(stage) {
        const { first, second } = stage
        const assertNeverTwo = stage.watchForTwoLeaders()
        await stage.acquire(first)
        let hasWon = false
        const campaign = stage.campaign(second).then(() => {
          hasWon = true
        })
        for (let round = 0; round < 3; round++) {
          await stage.renew(first)
          await stage.tryAcquire(first)
          assert.equal(hasWon, false, 'campaign() resolved while a rival leads')
          assert.equal(second.isLeader, false, 'the one that waits leads beside the leader')
        }
        await stage.release(first)
        await stage.soon('campaign() after the rival released', campaign)
        assert.equal(second.isLeader, true, 'campaign() resolved without leadership')
        assertNeverTwo()
      },
    },
    {
      name: 'rejects with the reason as soon as its signal aborts, and holds nothing',
      needs: ['campaign'],
      async run(stage) {
        const { first, second } = stage
        const changes = stage.changesOf(second)
        await stage.acquire(first)
        const controller = new AbortController()
        const reason = new Error('stopping')
        const campaign = stage.campaign(second, controller.signal)
        await stage.renew(first)
        controller.abort(reason)
        const what = 'campaign() after its signal aborted'
        await assertRejectsWithReason(what, stage.soon(what, campaign), reason)
        await stage.release(first)
        await stage.eventually('the rival to lead again: the aborted campaign must hold nothing', () => first.tryAcquire())
        assert.equal(second.isLeader, false, 'an aborted campaign must not lead')
        assert.deepEqual(changes, [], 'an aborted campaign must tell nothing')
      },
    },
    {
      name: 'rejects with the reason of a signal that was aborted before',
      needs: ['campaign'],
      async run(stage) {
        const reason = new Error('stopping')
        const campaign = stage.campaign(stage.first, AbortSignal.abort(reason))
        const what = 'campaign() with an aborted signal'
        await assertRejectsWithReason(what, stage.soon(what, campaign), reason)
        assert.equal(await stage.tryAcquire(stage.second), true, 'a campaign that was never begun must hold nothing')
      },
    },
    {
      name: 'leaves no listener on its signal, aborted or won',
      needs: ['campaign'],
      async run(stage) {
        const { first, second } = stage
        await stage.acquire(first)
        let leaked = 0
        for (let round = 0; round < 20; round++) {
          const controller = new AbortController()
          const campaign = stage.campaign(second, controller.signal)
          controller.abort(new Error('next round'))
          await stage.soon(
            'campaign() after its signal aborted',
            campaign.catch(() => {}),
          )
          leaked += getEventListeners(controller.signal, 'abort').length
        }
        assert.equal(leaked, 0, 'abort listeners were left after aborted campaigns')
        await stage.release(first)
        const { signal } = new AbortController()
        for (let round = 0; round < 20; round++) {
          await stage.soon('campaign() while nobody leads', stage.campaign(first, signal))
          await stage.release(first)
        }
        assert.equal(getEventListeners(signal, 'abort').length, 0, 'abort listeners were left after campaigns that were won')
      },
    },
    {
      name: 'tells one gain for several campaigns at once, and ends them all',
      needs: ['campaign'],
      async run(stage) {
        const { first, second } = stage
        const changes = stage.changesOf(second)
        await stage.acquire(first)
        const campaigns = [stage.campaign(second), stage.campaign(second), stage.campaign(second)]
        await stage.renew(first)
        await stage.release(first)
        await stage.soon('three campaigns at once', Promise.all(campaigns))
        assert.deepEqual(changes, [true], 'three campaigns at once are one gain')
      },
    },
    {
      name: 'wins again and again after losing, so that there is always a next leader',
      needs: ['campaign'],
      async run(stage) {
        const assertNeverTwo = stage.watchForTwoLeaders()
        let [leader, waiter] = stage.contenders
        await stage.acquire(leader)
        for (let round = 0; round < 10; round++) {
          const campaign = stage.campaign(waiter)
          // A round trip, in which the campaign gets to where it waits.
          await stage.renew(leader)
          await stage.release(leader)
          await stage.soon(`campaign() number ${round + 1}`, campaign)
          ;[leader, waiter] = [waiter, leader]
        }
        assertNeverTwo()
      },
    },
    {
      name: 'wins when the backend takes leadership away from the rival, and so does the rival after that',
      needs: ['campaign', 'loseLeadership'],
      async run(stage) {
        let [leader, waiter] = stage.contenders
        await stage.acquire(leader)
        for (let round = 0; round < 3; round++) {
          const campaign = stage.campaign(waiter)
          // A round trip, in which the campaign gets to where it waits.
          await stage.renew(leader)
          await stage.loseLeadership(leader)
          await stage.soon(`campaign() after loss number ${round + 1}`, campaign)
          const former = leader
          await stage.eventually('the former leader to see its loss', () => !former.isLeader)
          ;[leader, waiter] = [waiter, leader]
        }
      },
    },
  ],
}
