import { until } from '@es/coordination-testing'
import { expect, it } from 'vitest'
import { SlotReservations } from './slot-reservations.js'

it('gives a slot to one at a time: the first that is preferred and free, and the next one waits', async () => {
  const reservations = new SlotReservations(new AbortController().signal)
  const log: string[] = []
  const releases: (() => void)[] = []
  const take = (name: string, preferred: readonly number[]): Promise<void> =>
    reservations.with(
      () => preferred,
      async (slot) => {
        log.push(`${name} has ${slot}`)
        await new Promise<void>((resolve) => releases.push(resolve))
      },
    )
  const all = [take('a', [1, 2]), take('b', [1, 2]), take('c', [1, 2])]
  await until(() => log.length === 2, { what: 'two of three' })
  expect(log).toEqual(['a has 1', 'b has 2'])
  releases[1]?.()
  await until(() => log.length === 3, { what: 'the third' })
  expect(log[2]).toBe('c has 2')
  for (const release of releases) release()
  await Promise.all(all)
})

it('gives a slot back when the work fails', async () => {
  const reservations = new SlotReservations(new AbortController().signal)
  const fail = reservations.with(
    () => [1],
    () => Promise.reject(new Error('broken')),
  )
  await expect(fail).rejects.toThrow('broken')
  expect(
    await reservations.with(
      () => [1],
      async (slot) => slot,
    ),
  ).toBe(1)
})

it('lets nobody wait any longer when the run is over', async () => {
  const over = new AbortController()
  const reservations = new SlotReservations(over.signal)
  const releases: (() => void)[] = []
  const first = reservations.with(
    () => [1],
    () =>
      new Promise<void>((resolve) => {
        releases.push(resolve)
      }),
  )
  await until(() => releases.length, { what: 'the first to have it' })
  const second = reservations.with(
    () => [1],
    () => Promise.resolve(),
  )
  over.abort(new Error('interrupted'))
  await expect(second).rejects.toThrow('interrupted')
  for (const release of releases) release()
  await first
})
