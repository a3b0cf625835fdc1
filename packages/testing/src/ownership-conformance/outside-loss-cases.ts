import assert from 'node:assert/strict'
import type { CaseGroup } from './case-group.js'
import { assertEnded, assertHolds } from './ownership-stage.js'
import { assertGrowing } from './token-cases.js'

export const outsideLossCases: CaseGroup = {
  name: 'claims that the backend takes away',
  cases: [
    {
      name: 'ends all claims as lost, each once',
      needs: ['loseClaims'],
      async run(stage) {
        const { first } = stage
        const claims = await stage.own(first, ['s1', 's2', 's3'])
        const events: string[] = []
        for (const { signal, subscription } of claims)
          signal.addEventListener('abort', () => events.push(`${subscription} aborted, in held ${first.held.has(subscription)}`))
        await stage.loseClaims(first)
        await stage.eventually('all signals to be aborted', () => events.length >= claims.length)
        for (const claim of claims) assertEnded(claim, 'claim_lost', 'after a loss')
        assertHolds(first, [], 'after a loss')
        await stage.release(first, ['s1', 's2', 's3'])
        for (const claim of claims) assertEnded(claim, 'claim_lost', 'although it was released afterwards')
        assert.deepEqual(
          events.toSorted(),
          ['s1 aborted, in held false', 's2 aborted, in held false', 's3 aborted, in held false'],
          'each signal must abort once, when the claim is held no more',
        )
      },
    },
    {
      name: 'has larger tokens after a loss, whoever claims, and leaves the lost claims ended',
      needs: ['loseClaims'],
      async run(stage) {
        const { first, second } = stage
        const tokens: bigint[] = []
        for (const owner of [first, first, second, first]) {
          const [claim] = await stage.ownEventually(`${owner.instanceId} to claim after a loss`, owner, ['s1', 's2'])
          assert.ok(claim)
          tokens.push(claim.fencingToken)
          await stage.loseClaims(owner)
          await stage.eventually('the signal to be aborted', () => claim.signal.aborted)
          const again = await stage.ownEventually('the same owner to claim again', owner, ['s1', 's2'])
          assertEnded(claim, 'claim_lost', 'after its subscription was claimed again')
          assertHolds(owner, again, 'after a loss and a new claim')
          tokens.push(again[0]?.fencingToken ?? 0n)
          await stage.release(owner, ['s1', 's2'])
        }
        assertGrowing(tokens)
      },
    },
    {
      name: 'does not touch what the rival claimed after a loss',
      needs: ['loseClaims'],
      async run(stage) {
        const { first, second } = stage
        const lost = await stage.own(first, ['s1', 's2'])
        await stage.loseClaims(first)
        await stage.eventually('the signals to be aborted', () => lost.every(({ signal }) => signal.aborted))
        const claims = await stage.ownEventually('the rival to claim what was lost', second, ['s1', 's2'])
        await stage.release(first, ['s1', 's2'])
        await stage.assertDenied(first, ['s1', 's2'], 'the one that lost its claims freed those of its rival')
        assertHolds(second, claims, 'after its rival released what it had lost')
      },
    },
  ],
}
