import assert from 'node:assert/strict'
import { ConnectionError, errorMessage } from '@es/coordination-core'

/** What `work` rejects with; fails when it resolves. */
export async function rejectionOf(what: string, work: Promise<unknown>): Promise<unknown> {
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

/** Fails unless `work` rejects with a `ConnectionError`, whose code is `code` where that is given. */
export async function assertRejectsWithConnectionError(what: string, work: Promise<unknown>, code?: string): Promise<void> {
  const error = await rejectionOf(what, work)
  if (!(error instanceof ConnectionError))
    assert.fail(`${what} must reject with a ConnectionError, but it rejected with: ${errorMessage(error)}`)
  if (code !== undefined) assert.equal(error.code, code, `the code of the ConnectionError with which ${what} rejects`)
}
