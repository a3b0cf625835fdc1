import { ManualClock } from '@es/coordination-testing'
import { describe, expect, it } from 'vitest'
import { Lateness } from './lateness.js'
import { ProcessGate } from './process-gate.test.harness.js'

function setUp(): { clock: ManualClock; gate: ProcessGate; lateness: Lateness } {
  const clock = new ManualClock()
  const gate = new ProcessGate(clock)
  const lateness = new Lateness({ clock: gate, lateAfterSeconds: 5, recoverySeconds: 6 })
  lateness.start()
  return { clock, gate, lateness }
}

/** The process does not run for `seconds`: nothing fires, and time goes on. */
async function stall({ clock, gate }: { clock: ManualClock; gate: ProcessGate }, seconds: number): Promise<void> {
  gate.isPaused = true
  await clock.advance(seconds)
}

describe('a process (W3)', () => {
  it('that runs on time is not late', async () => {
    const { clock, lateness } = setUp()
    await clock.advance(1000)
    expect(lateness.isLate).toBe(false)
  })

  it('is late on the first line that runs after a pause, before any timer has fired', async () => {
    const all = setUp()
    await stall(all, 40)
    expect(all.lateness.isLate).toBe(true)
    expect(all.lateness.lastDelaySeconds).toBeGreaterThan(38)
  })

  it('stays so while it listens, and no longer', async () => {
    const all = setUp()
    await stall(all, 40)
    all.gate.resume()
    await all.clock.advance(5.9)
    expect(all.lateness.isLate).toBe(true)
    await all.clock.advance(0.2)
    expect(all.lateness.isLate).toBe(false)
  })

  it('that is a little late is not late', async () => {
    const all = setUp()
    await stall(all, 6)
    expect(all.lateness.isLate).toBe(false)
    all.gate.resume()
    await all.clock.advance(1)
    expect(all.lateness.isLate).toBe(false)
  })

  it('leaves no timer behind', async () => {
    const { clock, lateness } = setUp()
    await clock.advance(3)
    lateness.stop()
    expect(clock.pendingTimers).toBe(0)
    await clock.advance(100)
    expect(lateness.isLate).toBe(false)
  })
})
