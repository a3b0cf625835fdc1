import assert from 'node:assert/strict'
import type { CaseGroup } from './case-definition.js'

export const currentLeaderCases: CaseGroup = {
  name: 'current leader',
  cases: [
    {
      name: 'names itself while it leads',
      async run(stage) {
        await stage.acquire(stage.first)
        assert.equal(stage.first.currentLeader, stage.first.identity, 'currentLeader of the leader must be its own identity')
      },
    },
    {
      name: 'names nobody after it released',
      async run(stage) {
        await stage.acquire(stage.first)
        await stage.release(stage.first)
        assert.equal(stage.first.currentLeader, null, 'currentLeader must be null after release(): nobody leads')
      },
    },
    {
      name: 'names the leader to a rival that asks',
      async run(stage) {
        const { first, second } = stage
        await stage.acquire(first)
        await stage.eventually('the rival to name the leader', async () => {
          await second.tryAcquire()
          return second.currentLeader === first.identity
        })
      },
    },
    {
      name: 'names the new leader to the one that led before, once it asks',
      async run(stage) {
        const { first, second } = stage
        await stage.acquire(first)
        await stage.release(first)
        await stage.acquire(second)
        await stage.eventually('the former leader to name the new one', async () => {
          await first.tryAcquire()
          return first.currentLeader === second.identity
        })
      },
    },
    {
      name: 'sees a rival lead and stop leading without asking',
      needs: ['currentLeaderWithinSeconds'],
      async run(stage) {
        const { first, second, currentLeaderWithinSeconds } = stage
        await stage.acquire(first)
        await stage.eventually('the rival to name the leader', () => second.currentLeader === first.identity, currentLeaderWithinSeconds)
        await stage.release(first)
        await stage.eventually('the rival to name nobody', () => second.currentLeader === null, currentLeaderWithinSeconds)
      },
    },
  ],
}
