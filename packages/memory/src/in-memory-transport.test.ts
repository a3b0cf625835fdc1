import type { Logger } from '@es/coordination-core'
import { ManualClock } from '@es/coordination-testing'
import { describe, expect, it } from 'vitest'
import { InMemoryTransport } from './in-memory-transport.js'
import { SharedBus } from './shared-bus.js'

const silent: Logger = { debug() {}, info() {}, warn() {}, error() {} }

interface Setting {
  readonly clock: ManualClock
  readonly bus: SharedBus
  readonly transports: Readonly<Record<'a' | 'b', InMemoryTransport>>
  /** What each has heard on topic `t`, in order. */
  readonly heard: Readonly<Record<'a' | 'b', unknown[]>>
}

async function setUp(): Promise<Setting> {
  const clock = new ManualClock()
  const bus = new SharedBus({ clock })
  const transports = {
    a: new InMemoryTransport({ bus, name: 'a', logger: silent }),
    b: new InMemoryTransport({ bus, name: 'b', logger: silent }),
  }
  const heard = { a: [] as unknown[], b: [] as unknown[] }
  for (const name of ['a', 'b'] as const)
    await transports[name].subscribe('t', (message) => void heard[name].push((message as { n: unknown }).n))
  return { clock, bus, transports, heard }
}

describe('a bus without faults', () => {
  it('brings a message to all, the sender included, in order, in a later turn', async () => {
    const { clock, transports, heard } = await setUp()
    for (const n of [1, 2, 3]) await transports.a.publish('t', { n })
    expect(heard).toEqual({ a: [], b: [] })
    await clock.advance(0)
    expect(heard).toEqual({ a: [1, 2, 3], b: [1, 2, 3] })
  })

  it('brings copies: nobody sees what another one changes, nor the sender afterwards', async () => {
    const { clock, transports } = await setUp()
    const seen: Record<string, unknown>[] = []
    await transports.b.subscribe('copies', (message) => {
      const copy = message as Record<string, unknown>
      seen.push({ ...copy })
      copy.n = 'changed'
    })
    await transports.b.subscribe('copies', (message) => void seen.push({ ...(message as Record<string, unknown>) }))
    const message = { n: 1 }
    await transports.a.publish('copies', message)
    message.n = 2
    await clock.advance(0)
    expect(seen).toEqual([{ n: 1 }, { n: 1 }])
  })

  it('keeps topics apart, also those with strange names', async () => {
    const { clock, transports, heard } = await setUp()
    const strange: unknown[] = []
    await transports.b.subscribe('__proto__', (message) => void strange.push(message))
    await transports.a.publish('__proto__', { n: 1 })
    await transports.a.publish('constructor', { n: 2 })
    await clock.advance(0)
    expect(heard.b).toEqual([])
    expect(strange).toEqual([{ n: 1 }])
  })

  it('calls the other handlers though one throws and one rejects', async () => {
    const { clock, transports, heard } = await setUp()
    await transports.a.subscribe('t', () => {
      throw new Error('handler')
    })
    await transports.a.subscribe('t', (() => Promise.reject(new Error('async handler'))) as () => void)
    const last: unknown[] = []
    await transports.a.subscribe('t', (message) => void last.push(message))
    await transports.b.publish('t', { n: 1 })
    await clock.advance(0)
    expect([heard.a, last]).toEqual([[1], [{ n: 1 }]])
  })

  it('calls no handler that has unsubscribed, and may be asked twice', async () => {
    const { clock, transports } = await setUp()
    const heard: unknown[] = []
    const unsubscribe = await transports.a.subscribe('u', (message) => void heard.push(message))
    await transports.b.publish('u', {})
    unsubscribe()
    unsubscribe()
    await clock.advance(0)
    expect(heard).toEqual([])
  })
})

describe('the faults of a bus', () => {
  it('lose, repeat, delay and so reorder messages, each by sender, receiver, topic and content', async () => {
    const { clock, bus, transports, heard } = await setUp()
    bus.faults = {
      drop: ({ to, message }) => to === 'a' && message.n === 2,
      copies: ({ from, topic, message }) => (from === 'a' && topic === 't' && message.n === 3 ? 2 : 1),
      delaySeconds: ({ message }) => (message.n === 1 ? 5 : 1),
    }
    for (const n of [1, 2, 3]) await transports.a.publish('t', { n })
    await clock.advance(1)
    expect(heard).toEqual({ a: [3, 3], b: [2, 3, 3] })
    await clock.advance(4)
    expect(heard).toEqual({ a: [3, 3, 1], b: [2, 3, 3, 1] })
  })

  it('concern only what is published while they are set', async () => {
    const { clock, bus, transports, heard } = await setUp()
    bus.faults = { delaySeconds: () => 5 }
    await transports.a.publish('t', { n: 1 })
    bus.faults = {}
    await transports.a.publish('t', { n: 2 })
    await clock.advance(5)
    expect(heard.b).toEqual([2, 1])
  })
})

describe('a transport that is cut off', () => {
  it('hears nothing, not even what was on its way, and cannot publish; nothing is replayed', async () => {
    const { clock, transports, heard } = await setUp()
    await transports.a.publish('t', { n: 1 })
    transports.b.disconnect()
    await clock.advance(0)
    await transports.a.publish('t', { n: 2 })
    await expect(transports.b.publish('t', { n: 3 })).rejects.toMatchObject({ code: 'unreachable' })
    await expect(transports.b.subscribe('t', () => {})).rejects.toMatchObject({ code: 'unreachable' })
    transports.b.reconnect()
    await clock.advance(1)
    expect(heard).toEqual({ a: [1, 2], b: [] })
    await transports.a.publish('t', { n: 4 })
    await clock.advance(0)
    expect(heard.b).toEqual([4])
  })

  it('tells of each reconnection once, also when a callback throws', async () => {
    const { transports } = await setUp()
    let calls = 0
    transports.b.onResync(() => {
      throw new Error('resync')
    })
    const unsubscribe = transports.b.onResync(() => void calls++)
    transports.b.reconnect()
    expect(calls).toBe(0)
    transports.b.disconnect()
    transports.b.disconnect()
    transports.b.reconnect()
    transports.b.reconnect()
    expect(calls).toBe(1)
    unsubscribe()
    transports.b.disconnect()
    transports.b.reconnect()
    expect(calls).toBe(1)
  })

  it('for good refuses everything by its name, and cannot come back', async () => {
    const { clock, transports, heard } = await setUp()
    await transports.b.close()
    await transports.b.close()
    transports.b.reconnect()
    await transports.a.publish('t', { n: 1 })
    await clock.advance(0)
    expect(heard.b).toEqual([])
    await expect(transports.b.publish('t', {})).rejects.toMatchObject({ code: 'closed' })
    await expect(transports.b.subscribe('t', () => {})).rejects.toMatchObject({ code: 'closed' })
  })
})

it('refuses to be alone in a world of its own for want of a bus', () => {
  const refusal = expect.objectContaining({ code: 'invalid_options', message: expect.stringContaining('bus must be the SharedBus') })
  for (const options of [{}, { bus: {} }]) expect(() => new InMemoryTransport(options as never)).toThrow(refusal)
  expect(() => new InMemoryTransport(undefined as never)).toThrow('options must be an object')
})
