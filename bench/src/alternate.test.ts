import { expect, it, vi } from 'vitest'
import { alternate, typicalSeconds } from './alternate.js'

it('takes turns at who is first, and does not count the rounds in which it warms up', async () => {
  const calls: string[] = []
  let count = 0
  const take = (name: string) => async () => {
    calls.push(name)
    return count++
  }
  const figures = await alternate(2, take('measured'), take('beside'), 2)
  expect(calls.join(' ')).toBe('measured beside beside measured measured beside beside measured')
  expect(figures).toEqual({ samples: [4, 7], beside: [5, 6] })
})

it('is not misled by a few repetitions that were interrupted', async () => {
  // Readings in milliseconds, two for each of the three: 1, 500 and 2 of them pass.
  const readings = [0, 1, 10, 510, 520, 522]
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => readings.shift() ?? Number.NaN)
  try {
    expect(await typicalSeconds(3, async () => {})).toBe(0.002)
  } finally {
    clock.mockRestore()
  }
})
