import { expect, it } from 'vitest'
import { parseSchedstat } from './server-processes.js'

it('reads the time on a processor', () => {
  expect(parseSchedstat('4759361 10191446 10\n')).toBeCloseTo(0.004759361)
})

it('refuses what is something else', () => {
  expect(() => parseSchedstat('')).toThrow(/no schedstat/)
  expect(() => parseSchedstat('running')).toThrow(/no schedstat: running/)
})
