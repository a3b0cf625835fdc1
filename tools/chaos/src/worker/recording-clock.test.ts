import { describe, expect, it } from 'vitest'
import { hostSeconds } from '../host-clock.js'
import { RecordingClock } from './recording-clock.js'

function expectBetween(value: number, [from, until]: readonly [number, number]): void {
  const imprecision = 0.001
  expect(value).toBeGreaterThan(from - imprecision)
  expect(value).toBeLessThan(until + imprecision)
}

describe('a recording clock', () => {
  it('tells until when a belief will be held, without waiting for it', () => {
    const clock = new RecordingClock()
    const before = hostSeconds()
    const deadline = clock.monotonicSeconds() + 3
    const after = hostSeconds()
    expectBetween(
      clock.trueUntil(() => clock.monotonicSeconds() < deadline, 60),
      [before + 3, after + 3],
    )
    expect(clock.monotonicSeconds()).toBeLessThan(deadline)
  })

  it('tells the present for a belief that is not held, and looks no further than the horizon', () => {
    const clock = new RecordingClock()
    const before = hostSeconds()
    const [past, horizon] = [clock.trueUntil(() => false, 10), clock.trueUntil(() => true, 10)]
    const after = hostSeconds()
    expectBetween(past, [before, after])
    expectBetween(horizon, [before + 10, after + 10])
  })

  it('goes at the rate it was given, and still tells times of the machine', () => {
    const clock = new RecordingClock({ rate: 0.5 })
    const before = hostSeconds()
    const deadline = clock.monotonicSeconds() + 3
    const after = hostSeconds()
    expectBetween(
      clock.trueUntil(() => clock.monotonicSeconds() < deadline, 60),
      [before + 6, after + 6],
    )
  })

  it('goes on as before when the question throws', () => {
    const clock = new RecordingClock()
    const before = clock.monotonicSeconds()
    const fail = (): boolean => {
      throw new Error('no answer')
    }
    expect(() => clock.isTrueAt(hostSeconds() + 1000, fail)).toThrow('no answer')
    expect(clock.monotonicSeconds()).toBeLessThan(before + 500)
  })

  it('tells of every timer, which fires at its time', async () => {
    const clock = new RecordingClock({ rate: 2 })
    let timers = 0
    clock.onTimer = () => timers++
    const before = clock.monotonicSeconds()
    await new Promise<void>((resolve) => clock.setTimer(0.1, resolve))
    expect(clock.monotonicSeconds() - before).toBeGreaterThanOrEqual(0.1)
    expect(timers).toBe(1)
  })
})
