import { expect, it } from 'vitest'
import { parseScalingCommandLine } from './scaling-command-line.js'
import { selectSizes } from './sizes.js'

it('has clusters of 10, 100 and 1,000 with up to 100,000 subscriptions, and a server', () => {
  const { cells, listeners, workers } = selectSizes(parseScalingCommandLine([]))
  expect(new Set(cells.map(({ instances }) => instances))).toEqual(new Set([10, 100, 1000]))
  expect(Math.max(...cells.map(({ subscriptions }) => subscriptions))).toBe(100_000)
  expect(cells.filter(({ hearing }) => hearing === 'leader').map(({ instances }) => instances)).toEqual([10, 100, 1000])
  expect(listeners.length * workers.length).toBeGreaterThan(0)
})

it('leaves out what is too large, and a server that is not wanted', () => {
  const smallest = selectSizes(parseScalingCommandLine(['--largest', '10', '--most-subscriptions', '10', '--simulated']))
  expect(smallest).toEqual({ cells: [{ instances: 10, subscriptions: 10, hearing: 'all' }], listeners: [], workers: [] })
  expect(selectSizes(parseScalingCommandLine(['--largest', '50']))).toMatchObject({ listeners: [10, 50], workers: [10, 50] })
})
