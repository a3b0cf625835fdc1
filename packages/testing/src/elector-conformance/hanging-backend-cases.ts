import assert from 'node:assert/strict'
import { ConnectionError } from '@es/coordination-core'
import { assertRejectsWithConnectionError, assertRejectsWithReason } from '../conformance/rejections.js'
import type { CaseGroup } from './case-definition.js'
import type { Stage } from './stage.js'

const TIMEOUT_SECONDS = 0.3

// release() and renew() take no timeout: they are granted the one that tryAcquire() has by default.
const DEFAULT_TIMEOUT_SECONDS = 10

async function assertGivesUp(stage: Stage): Promise<void> {
  const what = `tryAcquire({ timeoutSeconds: ${TIMEOUT_SECONDS} })`
  const attempt = stage.first.tryAcquire({ timeoutSeconds: TIMEOUT_SECONDS })
  await assertRejectsWithConnectionError(what, stage.soon(what, attempt, TIMEOUT_SECONDS))
}

export const hangingBackendCases: CaseGroup = {
  name: 'a backend that does not answer',
  cases: [
    {
      name: 'gives up with a ConnectionError when the timeout is over, and holds nothing afterwards',
      needs: ['hang'],
      lasts: () => TIMEOUT_SECONDS + DEFAULT_TIMEOUT_SECONDS,
      async run(stage) {
        const { first, second } = stage
        const changes = stage.changesOf(first)
        // Talk to the backend first, so that an open connection is what hangs.
        await stage.acquire(first)
        await stage.release(first)
        const heal = await stage.hang()
        await assertGivesUp(stage)
        assert.equal(first.isLeader, false, 'an unanswered attempt must not lead')
        await heal()
        await stage.eventually(
          'the rival to lead: the unanswered attempt must hold nothing',
          () => second.tryAcquire(),
          DEFAULT_TIMEOUT_SECONDS,
        )
        assert.equal(first.isLeader, false, 'an answer that came too late must not be believed')
        assert.deepEqual(changes, [true, false], 'an unanswered attempt must tell nothing')
      },
    },
    {
      name: 'gives up with a ConnectionError when the very first contact is not answered',
      needs: ['hang'],
      lasts: () => TIMEOUT_SECONDS,
      async run(stage) {
        await stage.hang()
        await assertGivesUp(stage)
      },
    },
    {
      name: 'gives an unanswered attempt up as soon as its signal aborts',
      needs: ['hang'],
      lasts: () => DEFAULT_TIMEOUT_SECONDS,
      async run(stage) {
        const heal = await stage.hang()
        const controller = new AbortController()
        const reason = new Error('stopping')
        const attempt = stage.first.tryAcquire({ signal: controller.signal })
        // Later, so that the attempt has been sent.
        setTimeout(() => controller.abort(reason), 50)
        const what = 'tryAcquire() after its signal aborted'
        await assertRejectsWithReason(what, stage.soon(what, attempt), reason)
        await heal()
        await stage.eventually(
          'the rival to lead: the aborted attempt must hold nothing',
          () => stage.second.tryAcquire(),
          DEFAULT_TIMEOUT_SECONDS,
        )
        assert.equal(stage.first.isLeader, false, 'an aborted attempt must not lead')
      },
    },
    {
      name: 'gives leadership up by itself when a release is not answered',
      needs: ['hang'],
      lasts: () => DEFAULT_TIMEOUT_SECONDS,
      async run(stage) {
        const { first } = stage
        const changes = stage.changesOf(first)
        await stage.acquire(first)
        await stage.hang()
        const outcome = first.release().catch((error: unknown) => error)
        const error = await stage.soon('release() that is not answered', outcome, DEFAULT_TIMEOUT_SECONDS)
        if (error !== undefined)
          assert.ok(error instanceof ConnectionError, 'an unanswered release may reject with nothing but a ConnectionError')
        assert.equal(first.isLeader, false, 'release() must give leadership up even when the backend cannot be told')
        assert.deepEqual(changes, [true, false], 'the loss must be told, once')
      },
    },
    {
      name: 'answers false to a renewal that is never answered, and tells the loss',
      needs: ['hang'],
      lasts: () => DEFAULT_TIMEOUT_SECONDS,
      async run(stage) {
        const { first } = stage
        const changes = stage.changesOf(first)
        await stage.acquire(first)
        await stage.hang()
        const answer = await stage.soon('renew() that is not answered', first.renew(), DEFAULT_TIMEOUT_SECONDS)
        assert.equal(answer, false, 'a lease that could not be renewed must answer false')
        assert.equal(first.isLeader, false, 'renew() answered false, so isLeader must be false')
        await stage.eventually('the loss to be told', () => changes.length >= 2)
        assert.deepEqual(changes, [true, false], 'the loss must be told, once')
      },
    },
  ],
}
