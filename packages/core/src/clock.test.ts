import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { systemClock } from './clock.js'

beforeEach(() => {
  vi.useFakeTimers()
})

afterEach(() => {
  vi.useRealTimers()
})

describe('systemClock', () => {
  it('calls back once, no sooner than asked and never synchronously', () => {
    const callback = vi.fn()
    systemClock.setTimer(1.0004, callback)
    systemClock.setTimer(0, callback)
    systemClock.setTimer(-5, callback)
    expect(callback).not.toHaveBeenCalled()
    vi.advanceTimersByTime(1)
    expect(callback).toHaveBeenCalledTimes(2)
    vi.advanceTimersByTime(999)
    expect(callback).toHaveBeenCalledTimes(2)
    vi.advanceTimersByTime(2)
    expect(callback).toHaveBeenCalledTimes(3)
    vi.advanceTimersByTime(10_000)
    expect(callback).toHaveBeenCalledTimes(3)
  })

  it.each([2 ** 31 / 1000, 30 * 86_400, 100 * 86_400])('honours a delay of %s s, which Node alone would fire at once (W5)', (seconds) => {
    const callback = vi.fn()
    systemClock.setTimer(seconds, callback)
    vi.advanceTimersByTime(seconds * 1000 - 1000)
    expect(callback).not.toHaveBeenCalled()
    vi.advanceTimersByTime(1001)
    expect(callback).toHaveBeenCalledTimes(1)
  })

  it('waits for ever when asked to (W5)', () => {
    const callback = vi.fn()
    const cancel = systemClock.setTimer(Number.POSITIVE_INFINITY, callback)
    vi.advanceTimersByTime(100 * 86_400_000)
    expect(callback).not.toHaveBeenCalled()
    cancel()
    expect(vi.getTimerCount()).toBe(0)
  })

  it('stops a timer, also in a later leg of a long delay, and twice without harm', () => {
    const callback = vi.fn()
    const cancel = systemClock.setTimer(60 * 86_400, callback)
    vi.advanceTimersByTime(40 * 86_400_000)
    cancel()
    cancel()
    expect(vi.getTimerCount()).toBe(0)
    vi.advanceTimersByTime(40 * 86_400_000)
    expect(callback).not.toHaveBeenCalled()
  })

  it('refuses NaN', () => {
    expect(() => systemClock.setTimer(Number.NaN, () => {})).toThrow(RangeError)
  })

  it('measures durations on a clock of its own', () => {
    const before = systemClock.monotonicSeconds()
    vi.setSystemTime(0)
    expect(systemClock.now()).toEqual(new Date(0))
    expect(systemClock.monotonicSeconds()).toBeGreaterThanOrEqual(before)
  })
})
