import assert from 'node:assert/strict'
import { ConnectionError } from '@es/coordination-core'
import { assertRejectsWithConnectionError, assertRejectsWithReason } from '../conformance/rejections.js'
import type { CaseGroup } from './case-group.js'
import { assertHolds, type OwnershipStage } from './ownership-stage.js'

const TIMEOUT_SECONDS = 0.3

// release() and observe() take no timeout: they are granted the one that claim() has by default.
const DEFAULT_TIMEOUT_SECONDS = 10

async function assertGivesUp(stage: OwnershipStage, subscriptions: readonly string[]): Promise<void> {
  const what = `claim() with timeoutSeconds ${TIMEOUT_SECONDS}`
  const attempt = stage.first.claim(subscriptions, { timeoutSeconds: TIMEOUT_SECONDS })
  await assertRejectsWithConnectionError(what, stage.soon(what, attempt, TIMEOUT_SECONDS))
}

export const outageCases: CaseGroup = {
  name: 'a backend that cannot be asked',
  cases: [
    {
      name: 'rejects with a ConnectionError while it is disconnected, holds nothing new, and works again afterwards',
      needs: ['disconnect'],
      async run(stage) {
        const { first, second } = stage
        await stage.own(first, ['s0'])
        const connect = await stage.disconnect(first)
        await assertRejectsWithConnectionError('claim() while disconnected', stage.claim(first, ['s1', 's2']))
        await assertRejectsWithConnectionError('observe() while disconnected', stage.observe(first, ['s1']))
        assert.deepEqual(
          ['s1', 's2'].filter((subscription) => first.held.has(subscription)),
          [],
          'a claim that failed must hold nothing',
        )
        await stage.ownEventually('the rival to claim meanwhile', second, ['s1', 's2'])
        await connect()
        await stage.release(second, ['s1'])
        await stage.ownEventually('the one that was disconnected to claim again', first, ['s1'])
      },
    },
    {
      name: 'gives up with a ConnectionError when the timeout is over, and holds nothing new',
      needs: ['hang'],
      lasts: () => TIMEOUT_SECONDS + DEFAULT_TIMEOUT_SECONDS,
      async run(stage) {
        const { first, second } = stage
        // Talk to the backend first, so that an open connection is what hangs.
        await stage.own(first, ['s1'])
        await stage.release(first, ['s1'])
        const heal = await stage.hang()
        await assertGivesUp(stage, ['s1', 's2'])
        assertHolds(first, [], 'after a claim that was not answered')
        await heal()
        const what = 'the rival to claim: what was not answered must hold nothing'
        await stage.ownEventually(what, second, ['s1', 's2'], DEFAULT_TIMEOUT_SECONDS)
        assertHolds(first, [], 'after an answer that came too late')
      },
    },
    {
      name: 'gives up with a ConnectionError when the very first contact is not answered',
      needs: ['hang'],
      lasts: () => TIMEOUT_SECONDS,
      async run(stage) {
        await stage.hang()
        await assertGivesUp(stage, ['s1'])
      },
    },
    {
      name: 'gives an unanswered claim up as soon as its signal aborts',
      needs: ['hang'],
      lasts: () => DEFAULT_TIMEOUT_SECONDS,
      async run(stage) {
        const { first, second } = stage
        const heal = await stage.hang()
        const controller = new AbortController()
        const reason = new Error('stopping')
        const attempt = first.claim(['s1', 's2'], { signal: controller.signal })
        // Later, so that the request has been sent.
        setTimeout(() => controller.abort(reason), 50)
        const what = 'claim() after its signal aborted'
        await assertRejectsWithReason(what, stage.soon(what, attempt), reason)
        await heal()
        await stage.ownEventually('the rival to claim: what was aborted must hold nothing', second, ['s1', 's2'], DEFAULT_TIMEOUT_SECONDS)
        assertHolds(first, [], 'after a call that was aborted')
      },
    },
    {
      name: 'ends its claims at once although their release is not answered',
      needs: ['hang'],
      lasts: () => DEFAULT_TIMEOUT_SECONDS,
      async run(stage) {
        const { first } = stage
        const claims = await stage.own(first, ['s1', 's2'])
        await stage.hang()
        const released = first.release(['s1', 's2']).catch((error: unknown) => error)
        for (const { isHeld, signal } of claims) assert.deepEqual([isHeld, signal.aborted], [false, true], 'a claim outlived release()')
        assertHolds(first, [], 'after a release that is not answered')
        const error = await stage.soon('release() that is not answered', released, DEFAULT_TIMEOUT_SECONDS)
        if (error !== undefined)
          assert.ok(error instanceof ConnectionError, 'an unanswered release may reject with nothing but a ConnectionError')
      },
    },
    {
      name: 'rejects an observation that is not answered with a ConnectionError',
      needs: ['hang'],
      lasts: () => DEFAULT_TIMEOUT_SECONDS,
      async run(stage) {
        await stage.hang()
        const what = 'observe() that is not answered'
        await assertRejectsWithConnectionError(what, stage.soon(what, stage.first.observe(['s1']), DEFAULT_TIMEOUT_SECONDS))
      },
    },
  ],
}
