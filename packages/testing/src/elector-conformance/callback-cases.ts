import assert from 'node:assert/strict'
import { setImmediate as turn } from 'node:timers/promises'
import type { CaseGroup } from './case-definition.js'

export const callbackCases: CaseGroup = {
  name: 'leader-change callbacks',
  cases: [
    {
      name: 'tells a gain and a loss once each, in that order, and the rival nothing',
      async run(stage) {
        const changes = stage.changesOf(stage.first)
        const rivalChanges = stage.changesOf(stage.second)
        await stage.acquire(stage.first)
        await stage.tryAcquire(stage.second)
        await stage.release(stage.first)
        assert.deepEqual(changes, [true, false], 'the leader must tell [true, false]')
        assert.deepEqual(rivalChanges, [], 'the rival changed nothing, so it has nothing to tell')
      },
    },
    {
      name: 'tells nothing when the leader asks again',
      async run(stage) {
        const changes = stage.changesOf(stage.first)
        await stage.acquire(stage.first)
        await stage.tryAcquire(stage.first)
        await stage.tryAcquire(stage.first)
        await stage.release(stage.first)
        assert.deepEqual(changes, [true, false], 'only a change is told: asking again changes nothing')
      },
    },
    {
      name: 'has told the callbacks when tryAcquire() and release() settle',
      async run(stage) {
        let told = 'nothing'
        stage.first.onLeaderChange(async (isLeader) => {
          for (let turns = 0; turns < 5; turns++) await turn()
          told = `${isLeader}`
        })
        await stage.acquire(stage.first)
        assert.equal(told, 'true', 'tryAcquire() settled before its callback did')
        await stage.release(stage.first)
        assert.equal(told, 'false', 'release() settled before its callback did')
      },
    },
    {
      name: 'runs callbacks one at a time, in the order of registration',
      async run(stage) {
        const events: string[] = []
        for (const [name, turns] of [
          ['slow', 6],
          ['quick', 3],
          ['immediate', 0],
        ] as const) {
          stage.first.onLeaderChange(async (isLeader) => {
            events.push(`${name} ${isLeader} begins`)
            for (let taken = 0; taken < turns; taken++) await turn()
            events.push(`${name} ${isLeader} ends`)
          })
        }
        await stage.acquire(stage.first)
        await stage.release(stage.first)
        const all = () => events.length === 12
        await stage.eventually('all callbacks to end', all)
        const expected = [true, false].flatMap((isLeader) =>
          ['slow', 'quick', 'immediate'].flatMap((name) => [`${name} ${isLeader} begins`, `${name} ${isLeader} ends`]),
        )
        assert.deepEqual(events, expected, 'callbacks must be awaited one after the other, in the order of registration')
      },
    },
    {
      name: 'has changed its state before it tells',
      async run(stage) {
        const seen: string[] = []
        stage.first.onLeaderChange((isLeader) => void seen.push(`told ${isLeader}, isLeader ${stage.first.isLeader}`))
        await stage.acquire(stage.first)
        await stage.release(stage.first)
        assert.deepEqual(seen, ['told true, isLeader true', 'told false, isLeader false'], 'isLeader must already be what is told')
      },
    },
    {
      name: 'goes on when a callback throws',
      async run(stage) {
        stage.first.onLeaderChange(() => {
          throw new Error('a callback that throws, on purpose')
        })
        const changes = stage.changesOf(stage.first)
        await stage.acquire(stage.first)
        assert.equal(stage.first.isLeader, true, 'a callback that throws must not cost leadership')
        await stage.release(stage.first)
        assert.deepEqual(changes, [true, false], 'the callbacks after the one that throws must be told')
      },
    },
    {
      name: 'goes on when a callback rejects',
      async run(stage) {
        stage.first.onLeaderChange(async () => {
          await turn()
          throw new Error('a callback that rejects, on purpose')
        })
        const changes = stage.changesOf(stage.first)
        await stage.acquire(stage.first)
        assert.equal(stage.first.isLeader, true, 'a callback that rejects must not cost leadership')
        await stage.release(stage.first)
        assert.deepEqual(changes, [true, false], 'the callbacks after the one that rejects must be told')
      },
    },
    {
      name: 'logs a failing callback with the identity and the error',
      needs: ['logging'],
      async run(stage) {
        const error = new Error('a callback that fails, on purpose')
        stage.first.onLeaderChange(() => Promise.reject(error))
        await stage.acquire(stage.first)
        const logged = stage.log.some((fields) => fields.identity === stage.first.identity && fields.error === error)
        assert.ok(logged, 'the logger must get a warning or an error with the fields identity and error')
      },
    },
    {
      name: 'does not call a callback that was removed, and says whether there was one',
      async run(stage) {
        const calls: string[] = []
        const removed = (): void => void calls.push('removed')
        const never = (): void => void calls.push('never registered')
        const { first } = stage
        first.onLeaderChange(removed)
        first.onLeaderChange(() => void calls.push('kept'))
        assert.equal(first.removeLeaderChangeCallback(never), false, 'removing what was never registered must answer false')
        assert.equal(first.removeLeaderChangeCallback(removed), true, 'removing a registered callback must answer true')
        assert.equal(first.removeLeaderChangeCallback(removed), false, 'removing it a second time must answer false')
        await stage.acquire(first)
        await stage.release(first)
        assert.deepEqual(calls, ['kept', 'kept'], 'only the callback that is still registered must be called')
      },
    },
    {
      name: 'calls a callback once for each registration, and removes one at a time',
      async run(stage) {
        const { first } = stage
        let calls = 0
        const counted = (): void => void calls++
        first.onLeaderChange(counted)
        first.onLeaderChange(counted)
        await stage.acquire(first)
        assert.equal(calls, 2, 'a callback that was registered twice must be called twice')
        first.removeLeaderChangeCallback(counted)
        await stage.release(first)
        assert.equal(calls, 3, 'one of the two registrations must remain')
      },
    },
    {
      name: 'skips nobody when a callback removes itself',
      async run(stage) {
        const { first } = stage
        let calls = 0
        const once = (): void => {
          calls++
          first.removeLeaderChangeCallback(once)
        }
        first.onLeaderChange(once)
        const changes = stage.changesOf(first)
        await stage.acquire(first)
        await stage.release(first)
        assert.equal(calls, 1, 'a callback that removed itself must not be called again')
        assert.deepEqual(changes, [true, false], 'the callback after the one that removed itself must be told both changes')
      },
    },
    {
      name: 'does not call a callback that an earlier one removed in the same change',
      async run(stage) {
        const { first } = stage
        let calls = 0
        const victim = (): void => void calls++
        first.onLeaderChange(() => void first.removeLeaderChangeCallback(victim))
        first.onLeaderChange(victim)
        await stage.acquire(first)
        assert.equal(calls, 0, 'a callback was called after it had been removed')
      },
    },
    {
      name: 'tells a late callback the next change, not the present state',
      async run(stage) {
        await stage.acquire(stage.first)
        const changes = stage.changesOf(stage.first)
        const followerChanges = stage.changesOf(stage.second)
        await stage.tryAcquire(stage.first)
        await stage.release(stage.first)
        await stage.acquire(stage.second)
        assert.deepEqual(changes, [false], 'a callback that was registered by a leader must hear of its loss alone')
        assert.deepEqual(followerChanges, [true], 'a callback that was registered by a follower must hear of its gain alone')
      },
    },
  ],
}
