import assert from 'node:assert/strict'
import { ConnectionError, errorMessage } from '@es/coordination-core'

async function rejectionOf(what: string, work: Promise<unknown>): Promise<unknown> {
  const outcome = await work.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  )
  if ('value' in outcome) assert.fail(`${what} must reject, but it resolved with ${String(outcome.value)}`)
  return outcome.error
}

/** Fails unless `work` rejects with this very `reason`, as a call does whose signal aborts. */
export async function assertRejectsWithReason(what: string, work: Promise<unknown>, reason: Error): Promise<void> {
  const error = await rejectionOf(what, work)
  if (error !== reason) assert.fail(`${what} must reject with the reason of its signal, but it rejected with: ${errorMessage(error)}`)
}

/** Fails unless `work` rejects with a `ConnectionError`. */
export async function assertRejectsWithConnectionError(what: string, work: Promise<unknown>): Promise<void> {
  const error = await rejectionOf(what, work)
  if (!(error instanceof ConnectionError))
    assert.fail(`${what} must reject with a ConnectionError, but it rejected with: ${errorMessage(error)}`)
}
