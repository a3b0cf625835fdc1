import { ManualClock } from '@es/coordination-testing'
import { expect, it } from 'vitest'
import { Paced } from './paced.js'

it('calls at once, and then no more often than its pace, once for however many asked meanwhile', async () => {
  const clock = new ManualClock()
  const calls: number[] = []
  const paced = new Paced(clock, 1, () => calls.push(clock.monotonicSeconds()))
  paced.ask()
  expect(calls).toEqual([0])
  for (let n = 0; n < 25; n++) {
    await clock.advance(0.1)
    paced.ask()
  }
  expect(calls.map((at) => at.toFixed(1))).toEqual(['0.0', '1.0', '2.0'])
  await clock.advance(10)
  expect(calls).toHaveLength(4)
  paced.ask()
  expect(calls).toHaveLength(5)
  paced.ask()
  paced.stop()
  expect(clock.pendingTimers).toBe(0)
  await clock.advance(10)
  expect(calls).toHaveLength(5)
})
