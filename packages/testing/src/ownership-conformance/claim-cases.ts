import assert from 'node:assert/strict'
import type { CaseGroup } from './case-group.js'
import { assertHolds, assertNames, names, subscriptions } from './ownership-stage.js'

const BATCH = 500

const ODD_NAMES = [
  '__proto__',
  'constructor',
  'toString',
  'with space',
  "quo'te",
  'quo"te',
  'a.b',
  'A.b',
  'a_b',
  'späte Aufträge',
  '注文 🎉',
  '0',
  '-1',
  '%',
  ' s ',
  `${'long.'.repeat(200)}a`,
  `${'long.'.repeat(200)}b`,
]

export const claimCases: CaseGroup = {
  name: 'claims',
  cases: [
    {
      name: 'grants what is free',
      async run(stage) {
        const { first, second } = stage
        const { claimed, denied } = await stage.claim(first, ['s1', 's2'])
        assert.deepEqual([names(claimed), denied], [['s1', 's2'], []], 'all that is free must be granted')
        assertHolds(first, claimed, 'after claim()')
        for (const { fencingToken } of claimed) assert.equal(typeof fencingToken, 'bigint', 'fencingToken must be a bigint')
        assertHolds(second, [], 'after a claim of its rival')
      },
    },
    {
      name: 'denies what its rival holds, and leaves it to the rival',
      async run(stage) {
        const { first, second } = stage
        const claims = await stage.own(first, ['s1', 's2'])
        await stage.assertDenied(second, ['s1', 's2'], 'what the rival holds must be denied')
        assertHolds(first, claims, 'after a claim of its rival')
        assertHolds(second, [], 'after a claim that was denied')
      },
    },
    {
      name: 'names the holder of what it denies',
      needs: ['namesHolders'],
      async run(stage) {
        const { first, second } = stage
        await stage.own(first, ['s1', 's2'])
        const { denied } = await stage.claim(second, ['s2', 's1', 's3'])
        assert.deepEqual(names(denied), ['s2', 's1'], 'what the rival holds must be denied')
        for (const { holder } of denied) {
          assert.equal(holder?.instanceId, first.instanceId, 'holder.instanceId of a denied claim must be that of the rival')
          assert.equal(typeof holder?.detail, 'string', 'holder.detail of a denied claim must be a text')
        }
      },
    },
    {
      name: 'grants the part of a batch that is free',
      async run(stage) {
        const { first, second } = stage
        await stage.own(first, ['s2', 's4'])
        const { claimed, denied } = await stage.claim(second, ['s1', 's2', 's3', 's4', 's5'])
        assert.deepEqual(
          [names(claimed), names(denied)],
          [
            ['s1', 's3', 's5'],
            ['s2', 's4'],
          ],
          'only what the rival holds must be denied',
        )
        assertHolds(second, claimed, 'after a batch of which a part was denied')
      },
    },
    {
      name: 'answers in the order asked, whatever is free, held or denied',
      async run(stage) {
        const { first, second } = stage
        await stage.own(first, ['m', 'c', 'x'])
        await stage.own(second, ['y', 'b'])
        const { claimed, denied } = await stage.claim(second, ['z', 'x', 'y', 'm', 'a', 'c', 'b'])
        assert.deepEqual(
          [names(claimed), names(denied)],
          [
            ['z', 'y', 'a', 'b'],
            ['x', 'm', 'c'],
          ],
          'each list must be in the order asked',
        )
      },
    },
    {
      name: 'answers once what it is asked for twice',
      async run(stage) {
        const { first, second } = stage
        const { claimed } = await stage.claim(first, ['s1', 's2', 's1'])
        assert.deepEqual(names(claimed), ['s1', 's2'], 'a subscription must be in one of the lists, once')
        const { denied } = await stage.claim(second, ['s1', 's2', 's1'])
        assert.deepEqual(names(denied), ['s1', 's2'], 'a subscription must be in one of the lists, once')
        await stage.release(first, ['s1', 's2', 's1'])
        await stage.own(second, ['s1', 's2'])
      },
    },
    {
      name: 'answers what it holds with the claim that exists',
      async run(stage) {
        const { first, second } = stage
        const claims = await stage.own(first, ['s1', 's2'])
        for (let again = 0; again < 3; again++) {
          const { claimed } = await stage.claim(first, ['s1', `new ${again}`, 's2'])
          const [one, , two] = claimed
          assert.ok(one === claims[0] && two === claims[1], 'the claim that exists must be answered, and no other')
        }
        await stage.release(first, ['s1', 's2'])
        await stage.own(second, ['s1', 's2'])
      },
    },
    {
      name: 'answers an empty batch with nothing',
      async run(stage) {
        const { first } = stage
        assert.deepEqual(await stage.claim(first, []), { claimed: [], denied: [] }, 'claim() of nothing')
        await stage.soon('release() of nothing', first.release([]))
        assert.equal((await stage.observe(first, [])).size, 0, 'observe() of nothing')
      },
    },
    {
      name: 'takes names of any spelling, and keeps apart those that look alike',
      async run(stage) {
        const { first, second } = stage
        for (const name of ODD_NAMES) {
          const claim = await stage.ownOne(first, name)
          assertHolds(first, [claim], `after ${JSON.stringify(name.slice(-20))} was claimed`)
          const others = ODD_NAMES.filter((other) => other !== name)
          const { claimed, denied } = await stage.claim(second, ODD_NAMES)
          assert.deepEqual([names(claimed), names(denied)], [others, [name]], 'the one name must be denied, and no other')
          assert.deepEqual([...(await stage.observe(second, [name])).keys()], [name], 'observe() must know the name')
          await stage.release(first, [name])
          await stage.release(second, others)
        }
      },
    },
    {
      name: `takes a batch of ${BATCH}`,
      async run(stage) {
        const { first, second } = stage
        const all = subscriptions(BATCH)
        const claims = await stage.own(first, all)
        assertHolds(first, claims, 'after a large batch')
        await stage.assertDenied(second, all, 'all of the large batch must be denied to the rival')
        assertNames([...(await stage.observe(second, all)).keys()].toSorted(), all.toSorted(), 'observe() must see all of the large batch')
        await stage.release(first, all)
        assertHolds(first, [], 'after a large batch was released')
        await stage.own(second, all)
      },
    },
    {
      name: 'refuses a batch beyond what the backend can hold, and holds nothing new of it',
      needs: ['refusesBatchOf'],
      async run(stage) {
        const { first, second, refusesBatchOf } = stage
        const claim = await stage.ownOne(first, 'mine')
        const all = subscriptions(refusesBatchOf)
        const error = await stage.claim(first, all).catch((reason: unknown) => reason as { code?: unknown })
        assert.equal('code' in error && error.code, 'too_many_claims', 'the code of the CoordinationError')
        assertHolds(first, [claim], 'after a batch that was refused')
        const half = all.slice(0, refusesBatchOf / 2)
        await stage.ownEventually('the rival to be granted what was refused', second, half)
        await stage.release(second, half)
        await stage.own(first, half)
      },
    },
  ],
}
