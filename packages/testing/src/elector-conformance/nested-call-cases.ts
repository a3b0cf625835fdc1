import assert from 'node:assert/strict'
import type { CaseGroup } from './case-definition.js'

export const nestedCallCases: CaseGroup = {
  name: 'calls from inside a callback',
  cases: [
    {
      name: 'lets a callback release what was just gained, and then answers false',
      async run(stage) {
        const { first, second } = stage
        first.onLeaderChange(async (isLeader) => {
          if (isLeader) await first.release()
        })
        const changes = stage.changesOf(first)
        const answer = await stage.soon('tryAcquire() with a callback that awaits release()', first.tryAcquire())
        await stage.eventually('the loss to be told', () => changes.length >= 2)
        assert.deepEqual(changes, [true, false], 'the gain and then the loss must be told')
        assert.equal(first.isLeader, false, 'isLeader must be false after the release')
        assert.equal(answer, false, 'tryAcquire() must answer false when it does not lead at the end')
        assert.equal(await stage.tryAcquire(second), true, 'the rival must be able to lead')
      },
    },
    {
      name: 'lets a callback ask for leadership that was just lost',
      async run(stage) {
        const { first } = stage
        const answers: boolean[] = []
        first.onLeaderChange(async (isLeader) => {
          if (!isLeader && answers.length === 0) answers.push(await first.tryAcquire())
        })
        const changes = stage.changesOf(first)
        await stage.acquire(first)
        await stage.soon('release() with a callback that awaits tryAcquire()', first.release())
        await stage.eventually('the second gain to be told', () => changes.length >= 3)
        assert.deepEqual(answers, [true], 'tryAcquire() in the callback must answer true: nobody leads')
        assert.deepEqual(changes, [true, false, true], 'every change must be told, in order')
        assert.equal(first.isLeader, true, 'the elector must lead again')
        assert.equal(await stage.tryAcquire(stage.second), false, 'the rival must be refused: leadership was taken again')
      },
    },
    {
      name: 'lets a callback of the leader ask again and renew',
      async run(stage) {
        const { first } = stage
        const answers: boolean[] = []
        first.onLeaderChange(async (isLeader) => {
          if (isLeader) answers.push(await first.tryAcquire(), await first.renew())
        })
        const changes = stage.changesOf(first)
        await stage.soon('tryAcquire() with a callback that awaits tryAcquire() and renew()', first.tryAcquire())
        assert.deepEqual(answers, [true, true], 'the leader must be told that it leads')
        assert.deepEqual(changes, [true], 'asking again and renewing change nothing')
      },
    },
  ],
}
