import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import { boundedCall, type CallLimit } from './bounded-call.js'
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

  const reason = new Error('Given up')
  /** A call that was given up, and what its work was told. */
  const givenUp = async (begin: (limit: CallLimit) => void): Promise<CallLimit> => {
    const caller = new AbortController()
    let limit: CallLimit | undefined
    const call = boundedCall({ clock: systemClock, what: 'Asking', signals: [caller.signal] }, (given) => {
      limit = given
      begin(given)
      return new Promise(() => {})
    })
    expect(limit!.isOver).toBe(false)
    limit!.throwIfOver()
    caller.abort(reason)
    await expect(call).rejects.toBe(reason)
    return limit!
  }

  it('tells work that looks, and aborts the signal of work that asked for it', async () => {
    let signal: AbortSignal | undefined
    const limit = await givenUp((given) => {
      signal = given.signal
    })
    expect(limit.isOver).toBe(true)
    expect(() => limit.throwIfOver()).toThrow(reason)
    expect(signal).toMatchObject({ aborted: true, reason })
    expect(limit.signal).toBe(signal)
  })

  it('has an aborted signal for work that asks for it too late', async () => {
    expect((await givenUp(() => {})).signal).toMatchObject({ aborted: true, reason })
  })
})
