import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { assertRejectsWithReason } from '../conformance/rejections.js'
import type { CaseGroup } from './case-group.js'
import { assertHolds } from './ownership-stage.js'

export const signalCases: CaseGroup = {
  name: 'signals of claim()',
  cases: [
    {
      name: 'rejects with the reason of a signal that has been aborted, and holds nothing new',
      async run(stage) {
        const { first, second } = stage
        const reason = new Error('stopping')
        const claim = await stage.ownOne(first, 's1')
        const what = 'claim() with an aborted signal'
        await assertRejectsWithReason(what, stage.claim(first, ['s1', 's2'], { signal: AbortSignal.abort(reason) }), reason)
        assertHolds(first, [claim], 'after a call that was aborted')
        await stage.own(second, ['s2'])
      },
    },
    {
      name: 'grants all or nothing when its signal aborts on the way',
      async run(stage) {
        const { first, second } = stage
        const all = ['s1', 's2', 's3']
        for (let round = 0; round < 10; round++) {
          const controller = new AbortController()
          const reason = new Error(`stopping in round ${round}`)
          const attempt = stage.claim(first, all, { signal: controller.signal })
          // A little later each time.
          for (let turns = 0; turns < round; turns++) await Promise.resolve()
          controller.abort(reason)
          const outcome = await attempt.catch((error: unknown) => error)
          if (outcome === reason) {
            assertHolds(first, [], 'after a call that was aborted')
            await stage.ownEventually('the rival to claim what was aborted', second, all)
            await stage.release(second, all)
          } else {
            assert.ok(!(outcome instanceof Error), 'claim() may reject with the reason of its signal alone')
            await stage.assertDenied(second, all, 'what was granted must be denied to the rival')
            await stage.release(first, all)
          }
        }
      },
    },
    {
      name: 'keeps its claims when the signal of a finished call aborts',
      async run(stage) {
        const { first, second } = stage
        const controller = new AbortController()
        const { claimed } = await stage.claim(first, ['s1', 's2'], { signal: controller.signal })
        controller.abort(new Error('too late'))
        await stage.assertDenied(second, ['s1', 's2'], 'claims were given up by a signal of the past')
        assertHolds(first, claimed, 'after the signal of a finished call aborted')
      },
    },
    {
      name: 'leaves no listener on the signal of a call',
      async run(stage) {
        const { signal } = new AbortController()
        for (let round = 0; round < 5; round++) {
          for (const owner of [stage.first, stage.first, stage.second]) await stage.claim(owner, ['s1', 's2'], { signal })
          await stage.release(stage.first, ['s1', 's2'])
        }
        assert.equal(getEventListeners(signal, 'abort').length, 0, 'abort listeners were left on the signal')
      },
    },
  ],
}
