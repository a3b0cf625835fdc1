import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import { boundedCall } from './bounded-call.js'
import { systemClock } from './clock.js'

describe('boundedCall', () => {
  it('leaves no listener behind and begins no work when the clock refuses the timeout (W5)', async () => {
    const { signal } = new AbortController()
    let begun = 0
    const call = boundedCall({ clock: systemClock, what: 'Asking', timeoutSeconds: Number.NaN, signals: [signal] }, async () => begun++)
    await expect(call).rejects.toThrow(RangeError)
    expect(begun).toBe(0)
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
  })
})
