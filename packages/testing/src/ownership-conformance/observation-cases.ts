import assert from 'node:assert/strict'
import type { CaseGroup } from './case-group.js'
import type { OwnershipStage } from './ownership-stage.js'
import { assertHolds } from './ownership-stage.js'

async function assertSeen(stage: OwnershipStage, expected: Readonly<Record<string, string>>, when: string): Promise<void> {
  for (const observer of stage.contenders) {
    const seen = await stage.observe(observer, ['s1', 's2', 's3', 's4'])
    const holders = [...seen].map(([subscription, { instanceId }]) => [subscription, instanceId])
    assert.deepEqual(Object.fromEntries(holders), expected, `what ${observer.instanceId} observes ${when}`)
    for (const { detail } of seen.values()) assert.equal(typeof detail, 'string', 'detail must be a text')
  }
}

export const observationCases: CaseGroup = {
  name: 'who holds what',
  cases: [
    {
      name: 'has an instance id that its rival does not have',
      async run({ contenders }) {
        const ids = contenders.map(({ instanceId }) => instanceId)
        for (const id of ids) assert.ok(typeof id === 'string' && id !== '', 'instanceId must be a text that is not empty')
        assert.notEqual(ids[0], ids[1], 'both contenders have the same instance id')
      },
    },
    {
      name: 'lets both observe who holds what, and nothing of what is free or was not asked for',
      async run(stage) {
        const { first, second } = stage
        const [a, b] = [first.instanceId, second.instanceId]
        await assertSeen(stage, {}, 'before anything is claimed')
        await stage.own(first, ['s1', 's2', 's5'])
        await stage.own(second, ['s3'])
        await assertSeen(stage, { s1: a, s2: a, s3: b }, 'after both claimed')
        await stage.release(first, ['s2'])
        await stage.own(second, ['s2'])
        await stage.release(first, ['s1'])
        await assertSeen(stage, { s2: b, s3: b }, 'after one passed on')
      },
    },
    {
      name: 'lists in held what it holds, and nothing else, throughout',
      async run(stage) {
        const { first, second } = stage
        assertHolds(first, [], 'before anything is claimed')
        const [one, two] = await stage.own(first, ['s1', 's2'])
        const [three] = await stage.own(second, ['s3'])
        assert.ok(one && two && three)
        await stage.claim(first, ['s2', 's3'])
        await stage.observe(first, ['s1', 's3', 's4'])
        assertHolds(first, [one, two], 'after a claim that was denied')
        const four = await stage.ownOne(first, 's4')
        assertHolds(first, [one, two, four], 'after one more claim')
        await stage.release(first, ['s1', 's3'])
        assertHolds(first, [two, four], 'after one was released')
        assertHolds(second, [three], 'whatever its rival does')
        await stage.release(first, ['s2', 's4'])
        assertHolds(first, [], 'after all was released')
      },
    },
  ],
}
