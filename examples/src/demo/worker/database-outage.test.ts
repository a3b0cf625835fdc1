import { expect, test } from 'vitest'
import { isOutage } from './database-outage.js'

test.for<[unknown, boolean]>([
  [Object.assign(new Error('terminating connection due to administrator command'), { code: '57P01' }), true],
  [Object.assign(new Error('the database system is starting up'), { code: '57P03' }), true],
  [Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }), true],
  [new Error('Connection terminated unexpectedly'), true],
  [new Error('timeout exceeded when trying to connect'), true],
  [Object.assign(new Error('duplicate key'), { code: '23505' }), false],
  [new TypeError('events is undefined'), false],
  ['Connection terminated', false],
])('%s: %s', ([error, expected]) => {
  expect(isOutage(error)).toBe(expected)
})
