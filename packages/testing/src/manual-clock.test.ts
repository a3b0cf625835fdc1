import { sleep } from '@es/coordination-core'
import { describe, expect, it } from 'vitest'
import { ManualClock } from './manual-clock.js'

describe('ManualClock', () => {
  it('stands still until it is advanced', async () => {
    const clock = new ManualClock()
    expect(clock.now().toISOString()).toBe('2026-01-01T00:00:00.000Z')
    expect(clock.monotonicSeconds()).toBe(0)
    await clock.advance(1.5)
    expect(clock.now().toISOString()).toBe('2026-01-01T00:00:01.500Z')
    expect(clock.monotonicSeconds()).toBe(1.5)
    expect(new ManualClock({ startAt: new Date('2030-05-05T05:05:05.005Z') }).now().toISOString()).toBe('2030-05-05T05:05:05.005Z')
    expect(() => new ManualClock({ startAt: new Date('never') })).toThrow(RangeError)
  })

  it('fires timers in the order of their due times, then of registration, each at its own instant', async () => {
    const clock = new ManualClock()
    const fired: string[] = []
    const set = (name: string, delay: number) => clock.setTimer(delay, () => fired.push(`${name}@${clock.monotonicSeconds()}`))
    set('late', 3)
    set('b', 2)
    set('c', 2)
    set('a', 1)
    set('negative', -5)
    await clock.advance(2.5)
    expect(fired).toEqual(['negative@0', 'a@1', 'b@2', 'c@2'])
    expect(clock.pendingTimers).toBe(1)
  })

  it('never fires a timer synchronously, and not before it is advanced', async () => {
    const clock = new ManualClock()
    let fired = 0
    clock.setTimer(0, () => fired++)
    await Promise.resolve()
    expect(fired).toBe(0)
    await clock.advance(0)
    expect(fired).toBe(1)
  })

  it('fires timers that timers set, when they fall into the same window', async () => {
    const clock = new ManualClock()
    const ticks: number[] = []
    const tick = (): void => {
      ticks.push(clock.monotonicSeconds())
      clock.setTimer(1, tick)
    }
    clock.setTimer(1, tick)
    await clock.advance(3.5)
    expect(ticks).toEqual([1, 2, 3])
  })

  it('runs every promise continuation between two timers, however long the chain', async () => {
    const clock = new ManualClock()
    const order: string[] = []
    const chain = async (name: string): Promise<void> => {
      await sleep(1, { clock })
      for (let link = 0; link < 1000; link++) await null
      order.push(`${name} ended at ${clock.monotonicSeconds()}`)
    }
    void chain('first')
    clock.setTimer(1.001, () => order.push('next timer'))
    await clock.advance(1.001)
    expect(order).toEqual(['first ended at 1', 'next timer'])
  })

  it('sees timers that continuations set before the first one and after the last one', async () => {
    const clock = new ManualClock()
    const slept: number[] = []
    const sleeper = async (): Promise<void> => {
      await null
      for (;;) {
        await sleep(1, { clock })
        slept.push(clock.monotonicSeconds())
      }
    }
    void sleeper()
    await clock.advance(3)
    expect(slept).toEqual([1, 2, 3])
    expect(clock.pendingTimers).toBe(1)
  })

  it('does not fire a cancelled timer, not even one that an earlier timer of the instant cancels', async () => {
    const clock = new ManualClock()
    const fired: string[] = []
    clock.setTimer(1, () => {
      fired.push('first')
      cancel()
    })
    const cancel = clock.setTimer(1, () => fired.push('second'))
    clock.setTimer(1, () => fired.push('third'))
    await clock.advance(1)
    expect(fired).toEqual(['first', 'third'])
    expect(clock.pendingTimers).toBe(0)
    cancel()
  })

  it('fires what small steps add up to', async () => {
    const clock = new ManualClock()
    let isDue = false
    clock.setTimer(1, () => {
      isDue = clock.monotonicSeconds() >= 1
    })
    for (let step = 0; step < 10; step++) await clock.advance(0.1)
    expect(isDue).toBe(true)
  })

  it('honours delays of any length', async () => {
    const clock = new ManualClock()
    const fired: string[] = []
    clock.setTimer(Number.POSITIVE_INFINITY, () => fired.push('never'))
    clock.setTimer(86_400 * 30, () => fired.push('a month'))
    await clock.advance(86_400 * 30)
    expect(fired).toEqual(['a month'])
    expect(clock.pendingTimers).toBe(1)
  })

  it('jumps the wall clock alone', async () => {
    const clock = new ManualClock()
    let fired = 0
    clock.setTimer(10, () => fired++)
    clock.jumpWallClock(-3600)
    await clock.advance(5)
    expect(clock.now().toISOString()).toBe('2025-12-31T23:00:05.000Z')
    expect(clock.monotonicSeconds()).toBe(5)
    expect(fired).toBe(0)
    expect(() => clock.jumpWallClock(Number.NaN)).toThrow(RangeError)
  })

  it('refuses what time cannot do', async () => {
    const clock = new ManualClock()
    for (const seconds of [-1, Number.NaN, Number.POSITIVE_INFINITY]) await expect(clock.advance(seconds)).rejects.toThrow(RangeError)
    expect(() => clock.setTimer(Number.NaN, () => {})).toThrow(RangeError)
    const running = clock.advance(1)
    await expect(clock.advance(1)).rejects.toThrow('already advancing')
    await running
    expect(clock.monotonicSeconds()).toBe(1)
  })

  it('reports a timer that sets itself again without delay, instead of hanging', async () => {
    const clock = new ManualClock()
    const again = (): void => void clock.setTimer(0, again)
    again()
    await expect(clock.advance(1)).rejects.toThrow('sets itself again without delay')
  })

  it('passes on what a timer throws, and goes on from there', async () => {
    const clock = new ManualClock()
    let fired = 0
    clock.setTimer(1, () => {
      throw new Error('broken timer')
    })
    clock.setTimer(2, () => fired++)
    await expect(clock.advance(5)).rejects.toThrow('broken timer')
    expect(clock.monotonicSeconds()).toBe(1)
    await clock.advance(1)
    expect(fired).toBe(1)
  })
})
