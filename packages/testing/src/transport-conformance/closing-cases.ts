import assert from 'node:assert/strict'
import { assertRejectsWithConnectionError } from '../conformance/rejections.js'
import type { CaseGroup } from './case-group.js'
import { saying } from './transport-stage.js'

export const closingCases: CaseGroup = {
  name: 'closing',
  cases: [
    {
      name: 'rejects calls with the code closed once it was closed, however often',
      needs: ['close'],
      async run(stage) {
        const { first } = stage
        const { unsubscribe } = await stage.hear(first, 't')
        for (let again = 0; again < 2; again++) {
          await stage.closeTransport(first)
          await assertRejectsWithConnectionError('publish() after close()', stage.publish(first, 't', saying('too late')), 'closed')
          await assertRejectsWithConnectionError(
            'subscribe() after close()',
            stage.subscribe(first, 't', () => {}),
            'closed',
          )
        }
        unsubscribe()
        first.onResync(() => {})()
      },
    },
    {
      name: 'hears nothing more once it was closed, while the others go on',
      needs: ['close'],
      async run(stage) {
        const { first, second, third } = stage
        const closed = await stage.hear(second, 't')
        const open = await stage.hear(third, 't')
        let resyncs = 0
        second.onResync(() => void resyncs++)
        await stage.closeTransport(second)
        for (const text of ['one', 'two']) {
          await stage.publish(first, 't', saying(text))
          await stage.heard(text, open)
        }
        assert.deepEqual(closed.messages, [], 'a handler was called after the transport had been closed')
        assert.equal(resyncs, 0, 'onResync was told although the transport had been closed')
      },
    },
  ],
}
