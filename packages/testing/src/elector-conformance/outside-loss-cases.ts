import assert from 'node:assert/strict'
import type { CaseGroup } from './case-definition.js'

export const outsideLossCases: CaseGroup = {
  name: 'leadership that the backend takes away',
  cases: [
    {
      name: 'tells the loss once, and the rival can lead',
      needs: ['loseLeadership'],
      async run(stage) {
        const { first, second } = stage
        const changes = stage.changesOf(first)
        await stage.acquire(first)
        await stage.loseLeadership(first)
        await stage.eventually('the loss to be told', () => changes.length >= 2)
        assert.equal(first.isLeader, false, 'isLeader must be false once the loss is told')
        await stage.eventually('the rival to lead', () => second.tryAcquire())
        await stage.release(first)
        assert.equal(second.isLeader, true, 'a release by the one that lost leadership must not touch the new leader')
        await stage.release(second)
        await stage.eventually('the former leader to lead again', () => first.tryAcquire())
        assert.deepEqual(changes, [true, false, true], 'the loss must be told, once')
      },
    },
    {
      name: 'tells one loss when leadership is lost and released at once',
      needs: ['loseLeadership'],
      async run(stage) {
        const { first } = stage
        const changes = stage.changesOf(first)
        await stage.acquire(first)
        const release = first.release().catch((error: unknown) => error)
        await stage.soon('release() while leadership is lost', Promise.all([stage.loseLeadership(first), release]))
        await stage.eventually('the loser to lead again', () => first.tryAcquire())
        await stage.eventually('the second gain to be told', () => changes.length >= 3)
        assert.deepEqual(changes, [true, false, true], 'the loss must be told, once')
      },
    },
  ],
}
