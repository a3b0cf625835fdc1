import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import type { Clock } from './clock.js'
import { sleep } from './sleep.js'

/** A clock with timers that the test fires. */
class TimerClock implements Clock {
  readonly pending = new Map<() => void, number>()

  now(): Date {
    return new Date(0)
  }

  monotonicSeconds(): number {
    return 0
  }

  setTimer(delaySeconds: number, callback: () => void): () => void {
    this.pending.set(callback, delaySeconds)
    return () => this.pending.delete(callback)
  }

  fire(): void {
    for (const callback of this.pending.keys()) {
      this.pending.delete(callback)
      callback()
    }
  }
}

describe('sleep', () => {
  it('waits for as long as the clock takes, and leaves no listener behind (W5)', async () => {
    const clock = new TimerClock()
    const { signal } = new AbortController()
    for (let round = 0; round < 500; round++) {
      const slept = sleep(3, { clock, signal })
      expect([...clock.pending.values()]).toEqual([3])
      clock.fire()
      await slept
    }
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
  })

  it('rejects with the reason of the signal, and leaves neither listener nor timer behind (W5)', async () => {
    const clock = new TimerClock()
    const controller = new AbortController()
    const slept = sleep(3, { clock, signal: controller.signal })
    const reason = new Error('stop')
    controller.abort(reason)
    await expect(slept).rejects.toBe(reason)
    expect(clock.pending.size).toBe(0)
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0)
  })

  it('rejects at once when the signal is aborted already, and starts no timer', async () => {
    const clock = new TimerClock()
    const reason = new Error('stop')
    await expect(sleep(3, { clock, signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
    expect(clock.pending.size).toBe(0)
  })

  it('leaves no listener behind when the clock refuses', async () => {
    const { signal } = new AbortController()
    await expect(sleep(Number.NaN, { signal })).rejects.toThrow(RangeError)
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
  })
})
