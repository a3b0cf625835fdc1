import assert from 'node:assert/strict'
import type { Ownership } from '@es/coordination-core'
import type { CaseGroup } from './case-group.js'
import { assertHolds, names, type OwnershipStage, subscriptions } from './ownership-stage.js'
import { assertGrowing } from './token-cases.js'

const RACES = 20

/** What `owner` holds must be denied to its rival, and what it does not hold must be free, at least soon. */
async function assertNoClaimIsUnknown(
  stage: OwnershipStage,
  owner: Ownership,
  rival: Ownership,
  all: readonly string[],
  when: string,
): Promise<void> {
  const held = all.filter((subscription) => owner.held.has(subscription))
  const rest = all.filter((subscription) => !owner.held.has(subscription))
  await stage.assertDenied(rival, held, `what the owner holds must be denied to the rival, ${when}`)
  await stage.ownEventually(`the rival to claim what the owner does not hold, ${when}`, rival, rest)
  assertHolds(owner, [...owner.held.values()], when)
  await stage.release(rival, rest)
  await stage.release(owner, held)
}

export const concurrencyCases: CaseGroup = {
  name: 'concurrent calls',
  cases: [
    {
      name: 'gives each subscription to exactly one of two batches that race, over and over',
      async run(stage) {
        const { first, second } = stage
        const all = subscriptions(12)
        const [ofFirst, ofSecond] = [all.slice(0, 9), all.slice(3).toReversed()]
        const tokens = new Map<string, bigint[]>()
        const assertNeverTwo = stage.watchForTwoOwners()
        for (let race = 1; race <= RACES; race++) {
          const answers = Promise.all([first.claim(ofFirst), second.claim(ofSecond)])
          const [one, two] = await stage.soon(`race ${race}`, answers)
          const granted = [...one.claimed, ...two.claimed]
          assert.deepEqual(names(granted).toSorted(), all.toSorted(), `race ${race}: each subscription must be granted, and to one of them`)
          for (const { subscription, fencingToken } of granted)
            tokens.set(subscription, [...(tokens.get(subscription) ?? []), fencingToken])
          assertHolds(first, one.claimed, `in race ${race}`)
          assertHolds(second, two.claimed, `in race ${race}`)
          await stage.soon(`both release() of race ${race}`, Promise.all([first.release(ofFirst), second.release(ofSecond)]))
        }
        for (const ofOne of tokens.values()) assertGrowing(ofOne)
        assertNeverTwo()
      },
    },
    {
      name: 'never lets two hold a subscription while one releases and the other claims',
      async run(stage) {
        const assertNeverTwo = stage.watchForTwoOwners()
        const all = subscriptions(5)
        await stage.own(stage.first, all)
        for (let race = 1; race <= RACES; race++) {
          const [owner, rival] = race % 2 === 1 ? stage.contenders : [stage.second, stage.first]
          const [, { claimed }] = await stage.soon(`race ${race}`, Promise.all([owner.release(all), rival.claim(all)]))
          for (const { subscription } of claimed) assert.equal(owner.held.has(subscription), false, 'what was released is still in held')
          const rest = all.filter((subscription) => !rival.held.has(subscription))
          const late = await stage.own(rival, rest)
          assertHolds(rival, [...claimed, ...late], `in race ${race}`)
        }
        assertNeverTwo()
      },
    },
    {
      name: 'answers one and the same claim to all that claim at once',
      async run(stage) {
        const { first, second } = stage
        const asked = [['s1', 's2'], ['s2'], ['s2', 's1'], ['s1'], ['s1', 's2']].map((batch) => first.claim(batch))
        const outcomes = await stage.soon('five claim() at once', Promise.all(asked))
        const claims = new Set(outcomes.flatMap(({ claimed }) => claimed))
        assert.deepEqual(
          outcomes.map(({ claimed, denied }) => [claimed.length, denied.length]),
          [
            [2, 0],
            [1, 0],
            [2, 0],
            [1, 0],
            [2, 0],
          ],
          'all that was claimed at once must be granted to the only one that claims',
        )
        assert.equal(claims.size, 2, 'there must be one claim for each subscription')
        assertHolds(first, [...claims], 'after five claims at once')
        await stage.release(first, ['s1', 's2'])
        await stage.own(second, ['s1', 's2'])
      },
    },
    {
      name: 'leaves no claim that nobody knows, however claims and releases of one owner meet',
      async run(stage) {
        const { first, second } = stage
        const all = subscriptions(4)
        const [some, others] = [all.slice(0, 3), all.slice(1)]
        const calls = (round: number): Promise<unknown>[] =>
          [
            [() => first.claim(all), () => first.release(some), () => first.claim(some), () => first.release(all)],
            [() => first.claim(some), () => first.release(all), () => first.claim(others)],
            [
              () => first.release(some),
              () => first.claim(all),
              () => first.claim(some),
              () => first.release(others),
              () => first.release(all),
            ],
            [
              () => first.claim(all),
              () => first.claim(others),
              () => first.release(all),
              () => first.release(some),
              () => first.claim(some),
            ],
          ][round % 4]?.map((call) => call()) ?? []
        for (let round = 0; round < RACES; round++) {
          await stage.soon('the calls at once', Promise.all(calls(round)))
          await assertNoClaimIsUnknown(stage, first, second, all, `in round ${round + 1}`)
        }
      },
    },
  ],
}
