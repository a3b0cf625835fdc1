import { expect, it } from 'vitest'
import type { HistoryEvent } from '../history/history-event.js'
import { ManualClock } from '../manual-clock.js'
import { SeededRandom } from './seeded-random.js'
import { SimulatedProcess } from './simulated-process.js'
import { SimulatedStore, type StoreWrite } from './simulated-store.js'

function setUp() {
  const clock = new ManualClock()
  const wrote: HistoryEvent[] = []
  const store = new SimulatedStore({ clock, random: new SeededRandom(1, 'store'), wrote: (event) => wrote.push(event) })
  const process = new SimulatedProcess({ clock })
  const write = (token: bigint | null, after: number | null, count = 1): Promise<number> => {
    const row: StoreWrite = { instanceId: 'a', subscription: 's', token, after, count }
    return store.write(process, row)
  }
  const settle = async <T>(answer: Promise<T>): Promise<T> => {
    await clock.advance(1)
    return answer
  }
  return { clock, store, process, wrote, write, settle }
}

it('a checkpoint moves on under the token that it knows, or a larger one', async () => {
  const { store, wrote, write, settle } = setUp()
  expect(await settle(write(5n, null, 0))).toBe(0)
  expect(await settle(write(5n, 0, 3))).toBe(3)
  expect(await settle(write(7n, null, 0))).toBe(3)
  expect(store.positionOf('s')).toBe(3)
  expect(wrote).toMatchObject([
    { position: 0, from: 1, token: 5n },
    { position: 3, from: 1, token: 5n },
    { position: 3, from: 4, token: 7n },
  ])
})

it('a write under a smaller token is refused, and changes nothing', async () => {
  const { store, write, settle, wrote } = setUp()
  await settle(write(7n, 0, 2))
  const refused = write(6n, 0, 5)
  refused.catch(() => {})
  await expect(settle(refused)).rejects.toMatchObject({ code: 'stale_token' })
  expect(store.positionOf('s')).toBe(2)
  expect(wrote).toHaveLength(1)
})

it('a write that is on its way when its process stops takes effect all the same, and tells when it was sent', async () => {
  const { clock, store, process, wrote, write } = setUp()
  let isAnswered = false
  void write(1n, 0).then(() => {
    isAnswered = true
  })
  process.pause()
  await clock.advance(1)
  expect(store.positionOf('s')).toBe(1)
  expect(wrote[0]).toMatchObject({ sentAt: 0 })
  expect(isAnswered).toBe(false)
  process.resume()
  await clock.advance(0)
  expect(isAnswered).toBe(true)
})

it('a dead process sends nothing, whatever still goes on in it', async () => {
  const { clock, store, process, wrote, write } = setUp()
  process.kill()
  void write(1n, 0).then(() => expect.unreachable())
  await clock.advance(1)
  expect(store.positionOf('s')).toBe(0)
  expect(wrote).toEqual([])
})
