import type { Clock, Logger } from '@es/coordination-core'
import { ManualClock } from '@es/coordination-testing'
import { expect, it } from 'vitest'
import { guardedClock } from './guarded-clock.js'

function setUp(): { clock: ManualClock; faulty: Clock & { isBroken: boolean }; guarded: Clock; log: string[] } {
  const clock = new ManualClock()
  const log: string[] = []
  const note = (_fields: unknown, message: string): void => void log.push(message)
  const logger: Logger = { debug: note, info: note, warn: note, error: note }
  const read = <T>(value: () => T): T => {
    if (faulty.isBroken) throw new Error('no time')
    return value()
  }
  const faulty = {
    isBroken: false,
    now: () => read(() => clock.now()),
    monotonicSeconds: () => read(() => clock.monotonicSeconds()),
    setTimer: (seconds: number, callback: () => void) => read(() => clock.setTimer(seconds, callback)),
  }
  return { clock, faulty, log, guarded: guardedClock(faulty, logger) }
}

it('answers what it answered last while its source throws, and says so once an outage (W9)', async () => {
  const { clock, faulty, guarded, log } = setUp()
  await clock.advance(7)
  const before = [guarded.monotonicSeconds(), guarded.now().getTime()]
  faulty.isBroken = true
  await clock.advance(7)
  expect([guarded.monotonicSeconds(), guarded.now().getTime()]).toEqual(before)
  expect(log).toHaveLength(1)
  faulty.isBroken = false
  expect(guarded.monotonicSeconds()).toBe(14)
  faulty.isBroken = true
  guarded.now()
  expect(log).toHaveLength(2)
})

it("sets a timer on the machine's clock where its source cannot (W9)", async () => {
  const { faulty, guarded } = setUp()
  faulty.isBroken = true
  await new Promise<void>((resolve) => void guarded.setTimer(0.001, resolve))
  const cancel = guarded.setTimer(1000, () => {})
  cancel()
})

it('logs what a timer throws instead of passing it on (W9)', async () => {
  const { clock, guarded, log } = setUp()
  guarded.setTimer(1, () => {
    throw new Error('task')
  })
  await clock.advance(1)
  expect(log).toEqual(['A timer failed; the worker goes on'])
})
