import { describe, expect, it } from 'vitest'
import { ManualClock } from '../manual-clock.js'
import { SimulatedProcess } from './simulated-process.js'

function setUp(options: { skewSeconds?: number; rate?: number } = {}) {
  const clock = new ManualClock()
  const process = new SimulatedProcess({ clock, ...options })
  const ran: string[] = []
  const run = (name: string) => (): void => void ran.push(`${name}@${clock.monotonicSeconds().toFixed(3)}`)
  return { clock, process, ran, run }
}

describe('the clocks of a simulated process', () => {
  it('count from its start, at their own rate, and show a time that is off', async () => {
    const { clock } = setUp()
    await clock.advance(100)
    const process = new SimulatedProcess({ clock, skewSeconds: 30, rate: 0.5 })
    await clock.advance(10)
    expect(process.monotonicSeconds()).toBe(5)
    expect(process.now().toISOString()).toBe('2026-01-01T00:02:15.000Z')
    process.jumpWallClock(-60)
    expect(process.now().toISOString()).toBe('2026-01-01T00:01:15.000Z')
    expect(process.monotonicSeconds()).toBe(5)
    expect(process.toTrueSeconds(20)).toBe(140)
  })

  it('fire timers by its own time, and never let one see that it came too early', async () => {
    for (const rate of [0.93, 0.97, 1.01, 1.07]) {
      const { clock, process } = setUp({ rate })
      const early: number[] = []
      const tick = (): void => {
        const due = process.monotonicSeconds() + 0.1
        process.setTimer(0.1, () => {
          if (process.monotonicSeconds() < due) early.push(due)
          tick()
        })
      }
      tick()
      await clock.advance(50)
      expect(early).toEqual([])
      expect(process.monotonicSeconds()).toBeCloseTo(50 * rate, 9)
    }
  })

  it('fire no timer too early when the rate changes', async () => {
    const { clock, process, ran, run } = setUp()
    process.setTimer(10, run('slow'))
    await clock.advance(5)
    process.changeRate(0.5)
    await clock.advance(9.9)
    expect(ran).toEqual([])
    await clock.advance(0.2)
    expect(ran).toEqual(['slow@15.000'])
  })
})

describe('a paused process', () => {
  it('does nothing until it is resumed, and then everything in order, each step with what follows from it', async () => {
    const { clock, process, ran, run } = setUp()
    process.setTimer(2, run('second'))
    process.setTimer(1, () => {
      run('first')()
      void Promise.resolve().then(run('after the first'))
    })
    process.pause()
    await clock.advance(3)
    process.pass(run('third'))
    expect(ran).toEqual([])
    expect(process.pendingTimers).toBe(2)
    process.resume()
    process.pass(run('fourth'))
    await clock.advance(0)
    expect(ran).toEqual(['first@3.000', 'after the first@3.000', 'second@3.000', 'third@3.000', 'fourth@3.000'])
    expect(process.monotonicSeconds()).toBe(3)
  })

  it('does not fire a timer that fell due in the pause and is cancelled by what woke first', async () => {
    const { clock, process, ran, run } = setUp()
    process.setTimer(1, () => cancel())
    const cancel = process.setTimer(2, run('cancelled'))
    process.pause()
    await clock.advance(3)
    process.resume()
    await clock.advance(1)
    expect(ran).toEqual([])
    expect(process.pendingTimers).toBe(0)
  })

  it('that is paused again while it catches up keeps the rest', async () => {
    const { clock, process, ran, run } = setUp()
    process.pause()
    for (const name of ['a', 'b']) process.pass(run(name))
    process.resume()
    process.pause()
    await clock.advance(1)
    expect(ran).toEqual([])
    process.resume()
    await clock.advance(0)
    expect(ran).toEqual(['a@1.000', 'b@1.000'])
  })
})

describe('a killed process', () => {
  it('never runs anything again, and holds no timer', async () => {
    const { clock, process, ran, run } = setUp()
    process.setTimer(1, run('timer'))
    process.pause()
    process.pass(run('held'))
    process.kill()
    process.resume()
    process.pass(run('late'))
    process.setTimer(1, run('after death'))
    await clock.advance(5)
    expect(ran).toEqual([])
    expect(process.pendingTimers).toBe(0)
    expect(process.death.aborted).toBe(true)
  })
})

it('timers of the user are paused and killed with the process, and not counted', async () => {
  const { clock, process, ran, run } = setUp()
  process.userClock.setTimer(1, run('user'))
  expect(process.pendingTimers).toBe(0)
  await clock.advance(1)
  process.userClock.setTimer(1, run('never'))
  process.kill()
  await clock.advance(2)
  expect(ran).toEqual(['user@1.000'])
})
