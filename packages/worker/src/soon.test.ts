import { ManualClock } from '@es/coordination-testing'
import { expect, it } from 'vitest'
import { Soon } from './soon.js'

function setUp(): { clock: ManualClock; soon: Soon; calls: number[] } {
  const clock = new ManualClock()
  const calls: number[] = []
  return { clock, calls, soon: new Soon(clock, () => void calls.push(clock.monotonicSeconds())) }
}

it('calls once for however many asked, in a later turn', async () => {
  const { clock, soon, calls } = setUp()
  soon.ask()
  soon.ask()
  expect(calls).toEqual([])
  await clock.advance(0)
  expect(calls).toEqual([0])
  await clock.advance(100)
  expect(calls).toEqual([0])
})

it('keeps to the earliest time that was asked for', async () => {
  const { clock, soon, calls } = setUp()
  soon.ask(10)
  soon.ask(5)
  soon.ask(7)
  await clock.advance(20)
  expect(calls).toEqual([5])
  expect(clock.pendingTimers).toBe(0)
})

it('can be asked again from inside the call', async () => {
  const clock = new ManualClock()
  let calls = 0
  const soon = new Soon(clock, () => {
    if (++calls < 3) soon.ask(1)
  })
  soon.ask()
  await clock.advance(10)
  expect(calls).toBe(3)
})

it('calls no more once it was stopped, and leaves no timer', async () => {
  const { clock, soon, calls } = setUp()
  soon.ask(1)
  soon.stop()
  soon.ask()
  expect(clock.pendingTimers).toBe(0)
  await clock.advance(10)
  expect(calls).toEqual([])
})
