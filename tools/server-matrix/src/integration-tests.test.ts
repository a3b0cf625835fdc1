import { expect, it } from 'vitest'
import { readCounts } from './integration-tests.js'

it('reads what passed, failed and was left out', () => {
  const report = { numTotalTests: 10, numPassedTests: 5, numFailedTests: 2, numPendingTests: 2, numTodoTests: 1, success: false }
  expect(readCounts(JSON.stringify(report))).toEqual({ passed: 5, failed: 2, skipped: 3 })
})
