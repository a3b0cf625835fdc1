import { assertRejectsWithConnectionError } from '../conformance/rejections.js'
import type { CaseGroup } from './case-group.js'
import { assertEnded, assertHolds } from './ownership-stage.js'

export const closingCases: CaseGroup = {
  name: 'closing',
  cases: [
    {
      name: 'releases everything when it is closed',
      needs: ['close'],
      async run(stage) {
        const { first, second } = stage
        const claims = await stage.own(first, ['s1', 's2'])
        // A listener that does not know better must not make the closed one hold anything again.
        for (const { signal, subscription } of claims)
          signal.addEventListener('abort', () => void first.claim([subscription]).catch(() => {}))
        await stage.closeOwnership(first)
        for (const claim of claims) assertEnded(claim, 'claim_released', 'after close()')
        assertHolds(first, [], 'after close()')
        await stage.ownEventually('the rival to claim what a closed one held', second, ['s1', 's2'])
      },
    },
    {
      name: 'rejects calls with the code closed once it was closed, however often, while its rival goes on',
      needs: ['close'],
      async run(stage) {
        const { first, second } = stage
        await stage.own(first, ['s1'])
        const claims = await stage.own(second, ['s2'])
        for (let again = 0; again < 2; again++) {
          await stage.closeOwnership(first)
          await assertRejectsWithConnectionError('claim() after close()', stage.claim(first, ['s3']), 'closed')
          await assertRejectsWithConnectionError('observe() after close()', stage.observe(first, ['s3']), 'closed')
        }
        assertHolds(first, [], 'after close()')
        assertHolds(second, claims, 'after its rival was closed')
        await stage.own(second, ['s3'])
      },
    },
  ],
}
