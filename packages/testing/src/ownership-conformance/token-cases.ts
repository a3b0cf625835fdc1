import assert from 'node:assert/strict'
import type { Claim } from '@es/coordination-core'
import type { CaseGroup } from './case-group.js'

export const tokenCases: CaseGroup = {
  name: 'fencing token',
  cases: [
    {
      name: 'has a larger token with every claim on a subscription, whoever claims it',
      async run(stage) {
        const { first, second } = stage
        const tokens: bigint[] = []
        for (const owner of [first, second, second, first, first, second]) {
          const { fencingToken } = await stage.ownOne(owner, 's1')
          tokens.push(fencingToken)
          await stage.release(owner, ['s1'])
        }
        assertGrowing(tokens)
      },
    },
    {
      name: 'has larger tokens for each subscription, however the batches overlap',
      async run(stage) {
        const { first, second } = stage
        const tokens = new Map<string, bigint[]>()
        for (const [owner, batch] of [
          [first, ['s1', 's2', 's3']],
          [second, ['s2', 's4', 's1']],
          [first, ['s4', 's3', 's2']],
          [first, ['s1']],
          [second, ['s1', 's2', 's3', 's4']],
        ] as const) {
          for (const { subscription, fencingToken } of await stage.own(owner, batch))
            tokens.set(subscription, [...(tokens.get(subscription) ?? []), fencingToken])
          await stage.release(owner, batch)
        }
        for (const ofOne of tokens.values()) assertGrowing(ofOne)
      },
    },
    {
      name: 'keeps the token of a claim while more is claimed and released',
      async run(stage) {
        const { first, second } = stage
        const claim = await stage.ownOne(first, 's1')
        const token = claim.fencingToken
        const keepsIt = (by: Claim | undefined): void => assert.equal(by?.fencingToken, token, 'the token of a claim changed')
        await stage.own(second, ['s3'])
        keepsIt((await stage.claim(first, ['s2', 's1'])).claimed[1])
        await stage.claim(second, ['s1', 's2', 's3'])
        await stage.release(first, ['s2'])
        keepsIt((await stage.claim(first, ['s1'])).claimed[0])
        keepsIt(first.held.get('s1'))
        keepsIt(claim)
      },
    },
  ],
}

/** Fails unless each token is larger than the one before. */
export function assertGrowing(tokens: readonly bigint[]): void {
  for (const [index, token] of tokens.entries()) {
    const earlier = tokens[index - 1]
    assert.ok(
      earlier === undefined || token > earlier,
      `each claim must have a larger token than every earlier one, got ${tokens.join(', ')}`,
    )
  }
}
