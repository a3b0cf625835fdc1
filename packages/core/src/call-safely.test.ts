import { expect, it } from 'vitest'
import { callSafely } from './call-safely.js'

const error = new Error('no')
const thenable: PromiseLike<never> = {
  // biome-ignore lint/suspicious/noThenProperty: a promise of another make
  then: (_fulfilled, rejected) => {
    rejected?.(error)
    return thenable
  },
}

it.each<[what: string, call: () => unknown]>([
  [
    'throws',
    () => {
      throw error
    },
  ],
  ['rejects', () => Promise.reject(error)],
  ['rejects later', () => new Promise((_, reject) => setImmediate(() => reject(error)))],
  ['returns a rejected promise of another make', () => thenable],
])('passes on what a callback %s with, once', async (_what, call) => {
  const errors: unknown[] = []
  callSafely(call, (failure) => void errors.push(failure))
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
  expect(errors).toEqual([error])
})

it('calls at once, and says nothing of a callback that does well', async () => {
  const errors: unknown[] = []
  let calls = 0
  callSafely(
    () => ++calls,
    (failure) => void errors.push(failure),
  )
  callSafely(
    async () => void ++calls,
    (failure) => void errors.push(failure),
  )
  expect(calls).toBe(2)
  await new Promise((resolve) => setImmediate(resolve))
  expect(errors).toEqual([])
})
