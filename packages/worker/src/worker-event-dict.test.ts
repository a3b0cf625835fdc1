import { CoordinationError, stickyPlanner } from '@es/coordination-core'
import { describe, expect, it } from 'vitest'
import type { WorkerEvent } from './worker-event.js'
import { workerEventToDict } from './worker-event-dict.js'

describe('an event as plain data', () => {
  it('has numbers beyond 2^53 as text, and the sets of a plan by instance', () => {
    const plan = stickyPlanner({ subscriptions: [{ name: 's' }], instances: [{ instanceId: '__proto__' }], current: new Map() })
    expect(workerEventToDict({ type: 'leadership_gained', epoch: 2n ** 64n - 1n })).toEqual({
      type: 'leadership_gained',
      epoch: '18446744073709551615',
    })
    const dict = workerEventToDict({ type: 'planned', plan })
    expect(JSON.stringify(dict)).toContain('"assignments":{"__proto__":["s"]}')
    expect(Object.getPrototypeOf(dict)).toBe(Object.prototype)
  })

  const failed = (error: unknown): WorkerEvent => ({ type: 'run_failed', subscription: 's', error, failures: 1, retryInSeconds: null })
  const circular: Record<string, unknown> = { toJSON: () => circular }

  it.each([
    [new CoordinationError('some_code', 'why'), { name: 'CoordinationError', message: 'why', code: 'some_code' }],
    [new TypeError('off'), { name: 'TypeError', message: 'off' }],
    [null, null],
    ['text', '"text"'],
    [circular, 'a value of type object'],
    [10n, 'a value of type bigint'],
    [Object.create(null), 'a value of type object'],
  ])('says what a run threw, whatever that was: %#', (error, shown) => {
    expect(workerEventToDict(failed(error))).toEqual({
      type: 'run_failed',
      subscription: 's',
      error: shown,
      failures: 1,
      retryInSeconds: null,
    })
  })
})
