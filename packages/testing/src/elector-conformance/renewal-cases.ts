import assert from 'node:assert/strict'
import type { CaseGroup } from './case-definition.js'

export const renewalCases: CaseGroup = {
  name: 'renewal',
  cases: [
    {
      name: 'answers false to a renewal before it leads, and does not lead by it',
      async run(stage) {
        const changes = stage.changesOf(stage.first)
        assert.equal(await stage.renew(stage.first), false, 'renew() must answer false when nobody leads')
        assert.equal(stage.first.isLeader, false, 'renew() must not take leadership')
        await stage.acquire(stage.second)
        assert.equal(await stage.renew(stage.first), false, 'renew() must answer false when another one leads')
        assert.deepEqual(changes, [], 'renew() told a change')
      },
    },
    {
      name: 'answers true to a renewal while it leads, and tells nobody',
      async run(stage) {
        const changes = stage.changesOf(stage.first)
        await stage.acquire(stage.first)
        for (let again = 0; again < 3; again++) {
          assert.equal(await stage.renew(stage.first), true, 'renew() of the leader must answer true')
          assert.equal(stage.first.isLeader, true, 'the leader lost leadership by renewing')
        }
        await stage.release(stage.first)
        assert.deepEqual(changes, [true, false], 'a renewal that succeeds must tell nobody')
      },
    },
    {
      name: 'answers false to a renewal after it released',
      async run(stage) {
        await stage.acquire(stage.first)
        await stage.release(stage.first)
        assert.equal(await stage.renew(stage.first), false, 'renew() must answer false after release()')
        assert.equal(stage.first.isLeader, false, 'renew() took leadership back after release()')
      },
    },
  ],
}
