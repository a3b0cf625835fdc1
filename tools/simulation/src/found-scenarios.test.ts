import { formatSimulation, type Scenario, simulate } from '@es/coordination-testing'
import { expect, it } from 'vitest'
import { createWorker } from './worker-instance.js'

/** What long searches have found, as they shrank it. */
const FOUND: readonly (readonly [what: string, Scenario])[] = [
  [
    'what an instance was told to run and has not begun yet is not given to another one, where there are no claims',
    {
      seed: 0,
      subscriptions: 6,
      hasOwnership: false,
      steps: [
        { do: 'start', who: 'c', afterSeconds: 0 },
        { do: 'wait', afterSeconds: 2.5 },
        { do: 'start', who: 'a', afterSeconds: 3 },
        { do: 'restart', who: 'the newest', downSeconds: 0, afterSeconds: 0.004 },
        { do: 'start', who: 'e', afterSeconds: 0 },
        { do: 'cut_bus', who: 'a follower', forSeconds: 0.05, afterSeconds: 0 },
        { do: 'restart', who: 'the newest', downSeconds: 1.019, afterSeconds: 0 },
      ],
    },
  ],
]

it.each(FOUND)('%s', async (_, scenario) => {
  const result = await simulate(scenario, { createInstance: createWorker })
  expect(result.faults, formatSimulation(result)).toEqual([])
})
