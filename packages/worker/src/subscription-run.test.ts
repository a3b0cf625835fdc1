import type { CoordinationError } from '@es/coordination-core'
import { expect, it } from 'vitest'
import { SubscriptionRun } from './subscription-run.js'
import type { RunContext } from './worker-options.js'

it("never calls the user's code inside the step that starts it", async () => {
  let calls = 0
  const run = new SubscriptionRun('s', 1n, async () => void calls++)
  expect(calls).toBe(0)
  expect(await run.settled).toEqual({ type: 'returned', cause: null })
  expect(calls).toBe(1)
})

it("does not call the user's code at all when it is told to stop in that very step", async () => {
  const run = new SubscriptionRun('s', 1n, async () => expect.unreachable())
  run.stop('stopping')
  expect(await run.settled).toEqual({ type: 'returned', cause: 'stopping' })
})

it('tells a run each thing once: to end, and later that its claim is lost', async () => {
  const contexts: RunContext[] = []
  const run = new SubscriptionRun('s', 7n, async (_name, context) => {
    contexts.push(context)
    await new Promise((resolve) => context.lost.addEventListener('abort', resolve))
  })
  await Promise.resolve()
  const [context] = contexts as [RunContext]
  expect(context).toMatchObject({ fencingToken: 7n })
  run.stop('revoked')
  run.stop('stopping')
  expect(run.cause).toBe('revoked')
  expect([context.signal.aborted, context.lost.aborted]).toEqual([true, false])
  run.stop('lost')
  expect([(context.signal.reason as CoordinationError).code, (context.lost.reason as CoordinationError).code]).toEqual([
    'run_revoked',
    'run_lost',
  ])
  expect(await run.settled).toEqual({ type: 'returned', cause: 'lost' })
})

it('settles with whatever was thrown, also before the first await', async () => {
  const run = new SubscriptionRun('s', null, () => {
    // biome-ignore lint/style/useThrowOnlyError: users do.
    throw undefined
  })
  expect(await run.settled).toEqual({ type: 'failed', cause: null, error: new Error('The run threw undefined, or rejected with it') })
})
