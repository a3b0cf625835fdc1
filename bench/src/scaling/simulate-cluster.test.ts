import { expect, it } from 'vitest'
import { simulateCluster } from './simulate-cluster.js'

it('says why there can be no cluster of a size', async () => {
  const cell = { instances: 2, subscriptions: 10_001, hearing: 'all' } as const
  await expect(simulateCluster(cell)).rejects.toThrow('subscriptions.length must be at most 10000, got 10001')
})

it('brings a cluster to rest, and again after each change', async () => {
  const { steady, stable, traffic } = await simulateCluster({ instances: 4, subscriptions: 8, hearing: 'leader' })
  // Of four heartbeats every five seconds one is heard by all and three by two each; of four assignments every fifteen each by all.
  expect(steady.published).toBeCloseTo(4 / 5 + 4 / 15)
  expect(steady.delivered).toBeCloseTo(10 / 5 + 16 / 15)
  expect(stable).toEqual({ start: expect.any(Number), join: expect.any(Number), leave: expect.any(Number), crash: expect.any(Number) })
  // Half a second until the claims are looked at, and as long a grace.
  expect(stable.crash).toBeGreaterThan(0.5)
  expect(traffic.assignments.size).toBe(4)
  expect(traffic.leader).not.toBe(traffic.follower)
})
