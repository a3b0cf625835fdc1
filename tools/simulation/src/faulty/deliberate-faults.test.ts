import { ExplorationFailure, explore, simulate } from '@es/coordination-testing'
import { describe, expect, it } from 'vitest'
import { createWorker } from '../worker-instance.js'
import { DELIBERATE_FAULTS, type DeliberateFault } from './deliberate-faults.js'

// Of the 2,000 that `npm test` simulates without a fault.
const MOST_SCENARIOS = 200

/** The first scenario that goes wrong, of those that everybody else gets. */
async function firstFailure({
  options,
  family,
}: DeliberateFault): Promise<{ readonly scenarios: number; readonly failure: ExplorationFailure }> {
  let scenarios = 1
  try {
    await explore({
      ...{ createInstance: createWorker, ...options, choices: { family }, scenarios: MOST_SCENARIOS, maxShrinkSimulations: 0 },
      progress: (figures) => {
        scenarios = figures.scenarios
      },
    })
  } catch (failure) {
    if (failure instanceof ExplorationFailure) return { scenarios, failure }
    throw failure
  }
  expect.fail(`nothing went wrong in ${MOST_SCENARIOS} scenarios`)
}

describe('a cluster with a deliberate fault goes wrong:', { timeout: 120_000 }, () => {
  it.each(DELIBERATE_FAULTS)('$name', async (fault) => {
    const { scenarios, failure } = await firstFailure(fault)
    const { scenario, faults } = failure.result
    process.stdout.write(`${fault.name}: found in scenario ${scenarios}\n`)
    expect(faults.join('\n')).toMatch(fault.breaks)
    // It is the fault that does it, and not the scenario.
    const { faults: without } = await simulate(scenario, { createInstance: createWorker })
    expect(without).toEqual([])
  })
})
