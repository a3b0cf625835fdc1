import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { assertRejectsWithReason } from '../conformance/rejections.js'
import type { CaseGroup } from './case-definition.js'

export const signalCases: CaseGroup = {
  name: 'signals',
  cases: [
    {
      name: 'rejects with the reason of a signal that has been aborted, and holds nothing',
      async run(stage) {
        const reason = new Error('stopping')
        const changes = stage.changesOf(stage.first)
        const attempt = stage.first.tryAcquire({ signal: AbortSignal.abort(reason) })
        const what = 'tryAcquire() with an aborted signal'
        await assertRejectsWithReason(what, stage.soon(what, attempt), reason)
        assert.equal(stage.first.isLeader, false, 'an aborted attempt must not lead')
        assert.equal(await stage.tryAcquire(stage.second), true, 'an aborted attempt must hold nothing')
        assert.deepEqual(changes, [], 'an aborted attempt must tell nothing')
      },
    },
    {
      name: 'keeps leadership when the signal of a finished attempt aborts',
      async run(stage) {
        const controller = new AbortController()
        await stage.soon('tryAcquire() with a signal', stage.first.tryAcquire({ signal: controller.signal }))
        controller.abort(new Error('too late'))
        assert.equal(await stage.tryAcquire(stage.second), false, 'leadership was given up by a signal of the past')
        assert.equal(stage.first.isLeader, true, 'leadership was given up by a signal of the past')
      },
    },
    {
      name: 'leaves no listener on the signal of an attempt',
      async run(stage) {
        const { signal } = new AbortController()
        for (let round = 0; round < 5; round++) {
          for (const elector of [stage.first, stage.first, stage.second])
            await stage.soon('tryAcquire() with a signal', elector.tryAcquire({ signal }))
          await stage.release(stage.first)
        }
        assert.equal(getEventListeners(signal, 'abort').length, 0, 'abort listeners were left on the signal')
      },
    },
  ],
}
