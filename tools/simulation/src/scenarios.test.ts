import { type Scenario, scenarios, simulate } from '@es/coordination-testing'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createWorker } from './worker-instance.js'

describe("scenarios, in a property of one's own", { timeout: 60_000 }, () => {
  it('hold for a cluster of two', async () => {
    const some = scenarios({ instances: ['left', 'right'], maxSubscriptions: 3, maxEpisodes: 2 })
    await fc.assert(
      fc.asyncProperty(some, async (scenario) => {
        const { faults } = await simulate(scenario, { createInstance: createWorker })
        expect(faults).toEqual([])
      }),
      { seed: 4, numRuns: 20 },
    )
  })

  it('are plain data', () => {
    const made = fc.sample(scenarios(), { seed: 1, numRuns: 200 })
    for (const scenario of made) expect(JSON.parse(JSON.stringify(scenario))).toEqual(scenario)
  })

  it('name only instances and subscriptions that there are, and promise nothing that nobody promises', () => {
    const made = fc.sample(scenarios({ instances: ['x', 'y'], family: 'cut_bus' }), { seed: 2, numRuns: 200 })
    const kinds = new Set(made.flatMap(({ steps }) => steps.map((step) => step.do)))
    expect(kinds).not.toContain('pause')
    expect(kinds).not.toContain('partition')
    expect(kinds).not.toContain('bad_network')
    expect(made.every(({ hasOwnership }) => hasOwnership === false)).toBe(true)
  })

  it('shrink to fewer steps', async () => {
    const crashes = ({ steps }: Scenario): boolean => steps.some((step) => step.do === 'crash')
    const { counterexample } = fc.check(
      fc.property(scenarios({ family: 'claims' }), (scenario) => !crashes(scenario)),
      { seed: 1 },
    )
    const [shrunk] = counterexample ?? []
    expect(shrunk?.steps.filter((step) => step.do === 'crash')).toHaveLength(1)
    expect(shrunk?.steps.length).toBeLessThanOrEqual(4)
  })
})
