import { expect, it } from 'vitest'
import { WorkOrder } from './work-order.js'

const order = (mayRun: (name: string) => boolean = () => true): WorkOrder =>
  new WorkOrder([{ name: 'a' }, { name: 'b' }, { name: 'c' }], mayRun)

it('wants what it was told, as far as it knows it and may run it', () => {
  const work = order((name) => name !== 'b')
  expect(work.assigned).toBe(null)
  expect(work.assign(['a', 'b', 'x'])).toBe(true)
  expect([...work.wanted]).toEqual(['a'])
  expect(work.assigned).toEqual(['a', 'b', 'x'])
})

it('knows a repeat from news', () => {
  const work = order()
  expect([['a'], ['a'], ['b'], ['b', 'c'], ['c', 'b'], [], []].map((names) => work.assign(names))).toEqual([
    true,
    false,
    true,
    true,
    true,
    true,
    false,
  ])
})

it('declines for ever what some leader once thought could run here: the next one must not try again', () => {
  const work = order((name) => name !== 'b')
  work.assign(['x'])
  work.assign(['a'])
  expect(work.decline(['c', 'b']).toSorted()).toEqual(['b', 'c', 'x'])
})

it('declines no more than fits into a heartbeat', () => {
  const work = order()
  work.assign(Array.from({ length: 10_000 }, (_, index) => `x${index}`))
  work.assign(Array.from({ length: 10_000 }, (_, index) => `y${index}`))
  expect(work.decline(['a'])).toHaveLength(10_000)
  expect(work.decline(['a'])[0]).toBe('a')
})
