import { describe, expect, it } from 'vitest'
import { until } from './poll.js'

describe('until', () => {
  it('resolves with the first truthy value', async () => {
    let looks = 0
    expect(await until(() => (++looks === 3 ? `look ${looks}` : null), { what: 'the third look' })).toBe('look 3')
  })

  it('looks once when the condition is true from the start', async () => {
    let looks = 0
    await until(async () => ++looks > 0, { what: 'anything', withinSeconds: 0 })
    expect(looks).toBe(1)
  })

  it('says what it waited for, how long, and what it saw last', async () => {
    const failure = until(() => null, { what: 'worker-2 to lead', withinSeconds: 0.05 })
    await expect(failure).rejects.toThrow(/^Waited 0\.05 s for worker-2 to lead, but it was null \(looked \d+ times\)$/)
  })

  it('looks a last time at the deadline', async () => {
    const start = performance.now()
    const elapsed = () => performance.now() - start
    expect(await until(() => elapsed() >= 100, { what: 'the deadline', withinSeconds: 0.1, everySeconds: 60 })).toBe(true)
    expect(elapsed()).toBeLessThan(5000)
  })

  it('takes a condition that throws for one that is not true yet, and keeps the last error as cause', async () => {
    let looks = 0
    const flaky = () => {
      if (++looks < 3) throw new Error('not connected')
      return true
    }
    expect(await until(flaky, { what: 'a connection' })).toBe(true)
    const error = new Error('refused')
    const failure = until(() => Promise.reject(error), { what: 'a connection', withinSeconds: 0.02 })
    await expect(failure).rejects.toMatchObject({ message: expect.stringContaining('it failed: refused'), cause: error })
  })

  it('is bounded even when the condition never settles', async () => {
    const failure = until(() => new Promise<boolean>(() => {}), { what: 'a hanging answer', withinSeconds: 0.05 })
    await expect(failure).rejects.toThrow('Waited 0.05 s for a hanging answer')
  })
})
