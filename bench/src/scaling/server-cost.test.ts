import { describe, expect, it } from 'vitest'
import { coresFor, instancesFor, serverCost } from './server-cost.js'

const fanOut = [
  { listeners: 10, serverSecondsHeard: 9, serverSecondsWoken: 9, clientSecondsHeard: 9 },
  { listeners: 500, serverSecondsHeard: 30e-6, serverSecondsWoken: 20e-6, clientSecondsHeard: 1 },
]
const workers = (instances: number, serverSeconds: number) => ({
  ...{ instances, serverSeconds, subscriptions: 0, statements: 0, connections: 0, clientSeconds: 0 },
})

describe('the cost of a cluster to a server', () => {
  it('is that of notifications, by the largest crowd, and what is left of real workers', () => {
    // 100 x 100 x 30 us / 5 s are 0.06 cores.
    const cost = serverCost(fanOut, [workers(100, 0.26)])
    expect(cost).toEqual({ heardSeconds: 30e-6, instanceSeconds: expect.closeTo(0.002) })
    expect(serverCost([], [workers(100, 0.3)])).toBeNull()
    expect(serverCost(fanOut, [])).toBeNull()
  })

  it('grows with the square of the instances, and less with longer intervals', () => {
    const cost = { heardSeconds: 50e-6, instanceSeconds: 0 }
    expect(coresFor(100, cost)).toBeCloseTo(0.1)
    expect(coresFor(1000, cost)).toBeCloseTo(10)
    expect(coresFor(1000, cost, 10)).toBeCloseTo(5)
  })

  it('turned round says how many instances there can be', () => {
    const cost = { heardSeconds: 50e-6, instanceSeconds: 0.001 }
    for (const cores of [0.1, 1, 4]) {
      const most = instancesFor(cores, cost)
      expect(coresFor(most, cost)).toBeLessThanOrEqual(cores)
      expect(coresFor(most + 1, cost)).toBeGreaterThan(cores)
    }
  })
})
