import assert from 'node:assert/strict'
import { missingLeaderElectorMembers } from '@es/coordination-core'
import type { CaseGroup } from './case-definition.js'

export const identityCases: CaseGroup = {
  name: 'identity',
  cases: [
    {
      name: 'has every member of the contract',
      async run({ contenders }) {
        for (const elector of contenders) assert.deepEqual(missingLeaderElectorMembers(elector), [], 'members are missing')
      },
    },
    {
      name: 'has an identity that never changes and that its rival does not have',
      async run(stage) {
        const identities = () => stage.contenders.map((elector) => elector.identity)
        const before = identities()
        for (const identity of before)
          assert.ok(typeof identity === 'string' && identity !== '', 'identity must be a string that is not empty')
        assert.notEqual(before[0], before[1], 'both contenders have the same identity')
        await stage.tryAcquire(stage.first)
        assert.deepEqual(identities(), before, 'an identity changed when leadership was taken')
        await stage.release(stage.first)
        assert.deepEqual(identities(), before, 'an identity changed when leadership was released')
      },
    },
    {
      name: 'does not lead before it is asked to',
      async run({ contenders }) {
        for (const elector of contenders) {
          assert.equal(elector.isLeader, false, `${elector.identity} leads from the start`)
          assert.equal(elector.currentLeader, null, `${elector.identity} names a leader from the start`)
        }
      },
    },
  ],
}
