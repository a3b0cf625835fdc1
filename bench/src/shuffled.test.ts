import { expect, it } from 'vitest'
import { shuffled } from './shuffled.js'

it('is the same items in another order, and the same order for the same seed', () => {
  const items = Array.from({ length: 1000 }, (_, index) => index)
  const once = shuffled(items, 1)
  expect(once).toEqual(shuffled(items, 1))
  expect(once).not.toEqual(shuffled(items, 2))
  expect(once).not.toEqual(items)
  expect([...once].sort((one, other) => one - other)).toEqual(items)
})
