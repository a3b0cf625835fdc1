import { CoordinationError } from '@es/coordination-core'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkScenario } from './check-scenario.js'
import { explore } from './explore.js'
import type { Scenario } from './scenario.js'
import { scenarios } from './scenario-arbitrary.js'
import { simulate } from './simulate.js'

const FIT = { seed: 1, subscriptions: 2, steps: [{ do: 'start', who: 'a' }] }

const check = (scenario: unknown): void => checkScenario(scenario as Scenario)
const withStep = (step: unknown): unknown => ({ ...FIT, steps: [...FIT.steps, step] })

describe('a scenario', () => {
  it.each<[what: string, scenario: unknown, message: string]>([
    ['that is none', null, 'options must be an object'],
    ['without a seed', { ...FIT, seed: undefined }, 'scenario.seed must be a whole number'],
    ['with half a subscription', { ...FIT, subscriptions: 0.5 }, 'scenario.subscriptions must be a whole number'],
    ['with a subscription without a name', { ...FIT, subscriptions: ['a', ''] }, 'scenario.subscriptions[] must be'],
    ['with a text for ownership', { ...FIT, hasOwnership: 'no' }, 'scenario.hasOwnership must be true or false'],
    ['with a timing that is none', { ...FIT, timings: { leaseSecond: 1 } }, 'scenario.timings must be one of leaseSeconds'],
    ['with a negative timing', { ...FIT, timings: { leaseSeconds: -1 } }, 'scenario.timings.leaseSeconds must be a number of seconds'],
    ['without steps', { ...FIT, steps: undefined }, 'scenario.steps must be an array'],
    ['with a step that is none', withStep('crash'), 'options must be an object'],
    ['with a step of an unknown kind', withStep({ do: 'crsh', who: 'a' }), 'scenario.steps[1].do must be one of start, stop,'],
    ['with a step named like a built-in', withStep({ do: 'constructor' }), 'scenario.steps[1].do must be one of'],
    ['with a crash of nobody', withStep({ do: 'crash' }), 'scenario.steps[1].who must be a string'],
    [
      'with a field that is misspelt',
      withStep({ do: 'crash', who: 'a', afterSecond: 1 }),
      'a field of scenario.steps[1], a step "crash", must be',
    ],
    ['with a step back in time', withStep({ do: 'wait', afterSeconds: -1 }), 'scenario.steps[1].afterSeconds must be'],
    ['with a clock that stands still', withStep({ do: 'drift', who: 'a', rate: 0 }), 'scenario.steps[1].rate must be a number above 0'],
    ['with more loss than messages', withStep({ do: 'bad_network', loss: 1.5 }), 'scenario.steps[1].loss must be a share'],
    ['with a habit that nobody has', withStep({ do: 'misbehave', how: 'sings' }), 'scenario.steps[1].how must be one of throws'],
  ])('%s is refused, and told why', (_, scenario, message) => {
    expect(() => check(scenario)).toThrow(expect.objectContaining({ code: 'invalid_options', message: expect.stringContaining(message) }))
  })

  it('that was made up is fine', () => {
    fc.assert(
      fc.property(scenarios(), (scenario) => check(JSON.parse(JSON.stringify(scenario)))),
      { seed: 1, numRuns: 300 },
    )
  })

  it('that is anything at all is fine, or refused with one documented error, 3,000 times', () => {
    const anything = fc.anything({ maxDepth: 3, withBigInt: true, withNullPrototype: true, withMap: true })
    const kinds = fc.constantFrom('start', 'stop', 'partition', 'heal', 'x')
    const step = fc.record({ do: kinds, who: fc.oneof(fc.string(), anything), groups: anything }, { requiredKeys: ['do'] })
    const scenario = fc.record({ seed: anything, subscriptions: anything, timings: anything, steps: fc.oneof(anything, fc.array(step)) })
    const outcomes = new Set<boolean>()
    const isFine = (value: unknown): boolean => {
      try {
        check(value)
        return true
      } catch (error) {
        expect(error).toBeInstanceOf(CoordinationError)
        expect(error).toMatchObject({ code: 'invalid_options' })
        expect((error as Error).message.length).toBeLessThan(500)
        return false
      }
    }
    fc.assert(
      fc.property(scenario, step, (one, last) => {
        outcomes.add(isFine(one))
        outcomes.add(isFine(withStep(last)))
      }),
      { seed: 1, numRuns: 1500 },
    )
    expect(outcomes).toEqual(new Set([true, false]))
  })
})

it.each([
  ['scenarios', 0],
  ['scenarios', 1.5],
  ['scenarios', 'x'],
  ['seed', Number.NaN],
  ['path', 'abc'],
  ['path', '0:'],
  ['withinSeconds', -1],
  ['maxShrinkSimulations', -1],
])('an exploration is refused that has %s: %s', async (name, value) => {
  const createInstance = (): never => {
    throw new Error('not reached')
  }
  await expect(explore({ createInstance, [name]: value })).rejects.toMatchObject({
    code: 'invalid_options',
    message: expect.stringContaining(`${name} must be`),
  })
})

it('an exploration is refused whose path leads nowhere, instead of finding nothing wrong', async () => {
  const createInstance = (): never => {
    throw new Error('not reached')
  }
  await expect(explore({ createInstance, path: '0:0:99' })).rejects.toThrow('path must be one that a failure of the seed 1 named')
})

it('a simulation is refused that has a scenario that makes no sense, or nothing to simulate', async () => {
  const createInstance = (): never => {
    throw new Error('not reached')
  }
  await expect(simulate({ ...FIT, steps: [{ do: 'x' }] } as never, { createInstance })).rejects.toMatchObject({ code: 'invalid_options' })
  await expect(simulate(FIT as Scenario, {} as never)).rejects.toThrow('createInstance must be a function')
  await expect(simulate(FIT as Scenario, { createInstance, createBackend: 5 as never })).rejects.toThrow('createBackend must be')
  await expect(explore({} as never)).rejects.toThrow('createInstance must be a function')
})
