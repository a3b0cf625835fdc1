import { expect, it } from 'vitest'
import { RunWatch } from './run-watch.js'

function watchOf(subscriptions: number, ...instances: readonly string[]) {
  let now = 0
  const watch = new RunWatch(subscriptions, () => now)
  for (const instance of instances) watch.joined(instance)
  const at = (seconds: number): void => {
    now = seconds
  }
  return { watch, at }
}

it('is stable when everything runs, evenly, and only in those who are there', () => {
  const { watch } = watchOf(3, 'a', 'b')
  for (const name of ['s1', 's2', 's3']) watch.started('a', name)
  expect(watch.isStable).toBe(false)
  watch.ended('a', 's3')
  expect(watch.isStable).toBe(false)
  watch.started('b', 's3')
  expect(watch.isStable).toBe(true)
  watch.gone('b')
  expect(watch.isStable).toBe(false)
})

it('is stable with more instances than subscriptions', () => {
  const { watch } = watchOf(1, 'a', 'b', 'c')
  watch.started('b', 's1')
  expect(watch.isStable).toBe(true)
})

it('knows when something last changed, and who owns something', () => {
  const { watch, at } = watchOf(2, 'a', 'b')
  at(1)
  watch.started('a', 's1')
  at(2)
  watch.started('b', 's2')
  expect(watch.changedAt).toBe(2)
  expect(watch.ownerOtherThan(['a', undefined])).toBe('b')
  expect(watch.ownerOtherThan(['a', 'b'])).toBeNull()
  at(3)
  // The owner before tells late that its run has ended.
  watch.started('b', 's1')
  watch.ended('a', 's1')
  expect(watch.isStable).toBe(false)
  expect(watch.changedAt).toBe(3)
})
