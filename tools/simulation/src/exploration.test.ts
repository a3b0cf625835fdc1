import {
  type CreateBackend,
  type CreateInstance,
  ExplorationFailure,
  explore,
  formatSimulation,
  lockServerBackend,
  type Scenario,
  simulate,
} from '@es/coordination-testing'
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
  [
    'what an instance is told in the very instant in which it leaves, after a pause, is recorded before it has left',
    {
      seed: 1399786311,
      subscriptions: 6,
      hasOwnership: true,
      steps: [
        { do: 'start', who: 'a', afterSeconds: 0 },
        { do: 'start', who: 'c', afterSeconds: 0 },
        { do: 'wait', afterSeconds: 1.784 },
        { do: 'stop', who: 'the leader', drainSeconds: 3, afterSeconds: 2.932 },
        { do: 'stop', who: 'an owner', drainSeconds: 3, afterSeconds: 0.211 },
        { do: 'pause', who: 'c', forSeconds: 1.536, afterSeconds: 0 },
        { do: 'pause', who: 'the leader', forSeconds: 0.32 },
        { do: 'restart_backend', forSeconds: 2.651, afterSeconds: 0.587 },
        { do: 'restart', who: 'a', afterSeconds: 1.947, downSeconds: 1.154 },
        { do: 'restart', who: 'b', afterSeconds: 1.947, downSeconds: 1.154 },
        { do: 'restart', who: 'c', afterSeconds: 1.947, downSeconds: 1.154 },
        { do: 'restart', who: 'd', afterSeconds: 1.947, downSeconds: 1.154 },
        { do: 'restart', who: 'e', afterSeconds: 1.947, downSeconds: 1.154 },
        { do: 'start', who: 'a', afterSeconds: 4, skewSeconds: 90, rate: 1.02 },
        { do: 'misbehave', how: 'ignores', forSeconds: 1.022, afterSeconds: 0.003 },
      ],
    },
  ],
]

it.each(FOUND)('%s', async (_, scenario) => {
  const result = await simulate(scenario, { createInstance: createWorker })
  expect(result.faults, formatSimulation(result)).toEqual([])
})

it('an exploration tells what it has seen, also where it cannot be seen again', async () => {
  // Chance from elsewhere: something is wrong the first time only.
  let plays = 0
  const createBackend: CreateBackend = (options) => {
    plays++
    return lockServerBackend()(options)
  }
  const moody: CreateInstance = (surroundings) => {
    const worker = createWorker(surroundings)
    const problems = plays === 1 ? ['it was moody'] : []
    return { start: () => worker.start(), stop: (options) => worker.stop(options), problems: () => problems }
  }
  const failure = await explore({ createInstance: moody, createBackend, scenarios: 1, maxShrinkSimulations: 10 }).catch(
    (error: unknown) => error,
  )
  expect(failure).toBeInstanceOf(ExplorationFailure)
  expect(failure).toMatchObject({ message: expect.stringContaining('it was moody'), result: { holds: false } })
})
