import { expect, test } from 'vitest'
import { parseDemoOptions, UsageError } from './demo-options.js'

test('reads arguments over defaults', () => {
  expect(parseDemoOptions(['--events', '2000', '--batch', '25'])).toEqual({
    events: 2000,
    workers: 4,
    kills: 3,
    batch: 25,
    workMs: 45,
    leaseSeconds: 2,
    takeoverSeconds: 2,
    sabotage: null,
  })
})

test.for([
  [['--frobnicate'], 'frobnicate'],
  [['--workers', '1'], '--workers must be a whole number of at least 2, got 1'],
  [['--events', 'many'], '--events must be a whole number of at least 1, got many'],
  [['--events', '100'], '--events 100 in batches of 100 leave no work between 3 kills'],
  [['--sabotage', 'nicely'], '--sabotage must be one of rewind, skip, usurp, crash, got nicely'],
] as const)('refuses %j', ([args, message]) => {
  expect(() => parseDemoOptions(args)).toThrow(UsageError)
  expect(() => parseDemoOptions(args)).toThrow(message)
})
