import type { CoordinationError } from '@es/coordination-core'
import { describe, expect, it } from 'vitest'
import { InMemoryOwnership } from './in-memory-ownership.js'
import { SharedClaims } from './shared-claims.js'

function setUp(): { claims: SharedClaims; a: InMemoryOwnership; b: InMemoryOwnership } {
  const claims = new SharedClaims()
  return { claims, a: new InMemoryOwnership('a', { claims }), b: new InMemoryOwnership('b', { claims }) }
}

const codeOf = (signal: AbortSignal): string => (signal.reason as CoordinationError).code

describe('claiming', () => {
  it('takes what is free, and names who holds the rest, each in the order asked', async () => {
    const { a, b } = setUp()
    await a.claim(['s2'])
    const { claimed, denied } = await b.claim(['s3', 's2', 's1'])
    expect(claimed.map(({ subscription }) => subscription)).toEqual(['s3', 's1'])
    expect(denied).toEqual([{ subscription: 's2', holder: { instanceId: 'a', detail: 'in this process' } }])
  })

  it('answers a claim that is held already with itself', async () => {
    const { a } = setUp()
    const first = await a.claim(['s'])
    const second = await a.claim(['s', 's'])
    expect(second.claimed).toHaveLength(1)
    expect(second.claimed[0]).toBe(first.claimed[0])
    expect(a.held.get('s')).toBe(first.claimed[0])
  })

  it('numbers the claims on a subscription strictly upwards, whoever makes them', async () => {
    const { a, b } = setUp()
    const tokens: bigint[] = []
    for (let round = 0; round < 5; round++) {
      for (const ownership of [a, b]) {
        const { claimed } = await ownership.claim(['s'])
        tokens.push(claimed[0]?.fencingToken ?? -1n)
        await ownership.release(['s'])
      }
    }
    expect(tokens.every((token, index) => index === 0 || token > (tokens[index - 1] ?? token))).toBe(true)
  })

  it('is refused by a second process of the same name: the holder is the object', async () => {
    const { claims, a } = setUp()
    await a.claim(['s'])
    const double = new InMemoryOwnership('a', { claims })
    expect((await double.claim(['s'])).denied).toHaveLength(1)
    await double.release(['s'])
    expect(a.held.get('s')?.isHeld).toBe(true)
  })

  it('takes nothing on a signal that has aborted', async () => {
    const { claims, a } = setUp()
    const reason = new Error('enough')
    await expect(a.claim(['s'], { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
    expect(claims.holderOf('s')).toBe(null)
  })

  it('knows strange names', async () => {
    const { a, b } = setUp()
    await a.claim(['__proto__', 'constructor'])
    expect((await b.claim(['__proto__', 'constructor', 'toString'])).claimed.map(({ subscription }) => subscription)).toEqual(['toString'])
  })
})

describe('the end of a claim', () => {
  it('is told with why it ended, and it is free for others by then', async () => {
    const { a, b } = setUp()
    const { claimed } = await a.claim(['s1', 's2'])
    const seen: Promise<number>[] = []
    for (const { signal } of claimed)
      signal.addEventListener('abort', () => seen.push(b.claim(['s1', 's2']).then(({ claimed: { length } }) => length)))
    await a.release(['s1'])
    a.forceLose()
    expect(claimed.map(({ signal }) => codeOf(signal))).toEqual(['claim_released', 'claim_lost'])
    expect(claimed.map(({ isHeld }) => isHeld)).toEqual([false, false])
    expect(await Promise.all(seen)).toEqual([1, 2])
    expect(a.held.size).toBe(0)
  })

  it('by release skips what is not held', async () => {
    const { a, b } = setUp()
    await a.claim(['s'])
    await b.release(['s', 'unknown'])
    expect(a.held.get('s')?.isHeld).toBe(true)
  })

  it('by loss takes only what was named', async () => {
    const { a } = setUp()
    await a.claim(['s1', 's2'])
    a.forceLose(['s1'])
    expect([...a.held.keys()]).toEqual(['s2'])
  })
})

describe('an outage', () => {
  it('loses all claims and rejects every call, until it is over', async () => {
    const { claims, a } = setUp()
    const { claimed } = await a.claim(['s'])
    a.disconnect()
    expect(codeOf(claimed[0]?.signal as AbortSignal)).toBe('claim_lost')
    expect(claims.holderOf('s')).toBe(null)
    for (const call of [() => a.claim(['s']), () => a.release(['s']), () => a.observe(['s'])]) {
      await expect(call()).rejects.toMatchObject({ code: 'unreachable' })
    }
    a.reconnect()
    expect((await a.claim(['s'])).claimed).toHaveLength(1)
  })

  it('for good releases everything, and stays', async () => {
    const { claims, a } = setUp()
    const { claimed } = await a.claim(['s'])
    await a.close()
    await a.close()
    a.reconnect()
    expect(codeOf(claimed[0]?.signal as AbortSignal)).toBe('claim_released')
    expect(claims.holderOf('s')).toBe(null)
    await expect(a.claim(['s'])).rejects.toMatchObject({ code: 'closed' })
  })
})

it('shows anybody who holds what, as far as anybody does', async () => {
  const { a, b } = setUp()
  await a.claim(['s1'])
  await b.claim(['s2'])
  expect(Object.fromEntries([...(await b.observe(['s1', 's2', 's3']))].map(([name, { instanceId }]) => [name, instanceId]))).toEqual({
    s1: 'a',
    s2: 'b',
  })
})

it('refuses an empty name, and to be alone in a world of its own for want of claims', () => {
  expect(() => new InMemoryOwnership('', { claims: new SharedClaims() })).toThrow('instanceId')
  const refusal = expect.objectContaining({ code: 'invalid_options', message: expect.stringContaining('claims must be the SharedClaims') })
  for (const options of [{}, { claims: {} }]) expect(() => new InMemoryOwnership('a', options as never)).toThrow(refusal)
  expect(() => new InMemoryOwnership('a', undefined as never)).toThrow('options must be an object')
})
