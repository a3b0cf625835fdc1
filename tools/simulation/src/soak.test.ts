import { ExplorationFailure, explore, formatSimulation, lockServerBackend, type Scenario, simulate } from '@es/coordination-testing'
import { describe, expect, it } from 'vitest'
import { explorationOptions, soak } from './soak.js'
import { parseSoakOptions } from './soak-options.js'
import { createWorker } from './worker-instance.js'

// Leaders that trust what they hold for longer than the lease.
const createBackend = lockServerBackend({ renewDeadlineSeconds: 9 })

const BUSY: Scenario = {
  seed: 5,
  subscriptions: 6,
  steps: [
    ...['a', 'b', 'c'].map((who) => ({ do: 'start', who, afterSeconds: 0.3, rate: 1.02 }) as const),
    { do: 'bad_network', loss: 0.3, repeat: 0.3, jitterSeconds: 1, forSeconds: 20, afterSeconds: 3 },
    { do: 'crash', who: 'the leader', downSeconds: 2, afterSeconds: 2 },
    { do: 'pause', who: 'the leader', forSeconds: 5, afterSeconds: 3 },
    { do: 'bad_backend', slowSeconds: 1, forSeconds: 4, afterSeconds: 1 },
    { do: 'misbehave', how: 'throws', subscription: 's1', forSeconds: 3 },
    { do: 'restart', who: 'an owner', afterSeconds: 4 },
    { do: 'wait', afterSeconds: 4 },
  ],
}

describe('a simulation of real workers', { timeout: 60_000 }, () => {
  it('is the same every time, to the byte', async () => {
    const [first, second] = [await simulate(BUSY, { createInstance: createWorker }), await simulate(BUSY, { createInstance: createWorker })]
    const text = (result: typeof first): string =>
      JSON.stringify([result.history, formatSimulation(result), result.figures], (_key, value) =>
        typeof value === 'bigint' ? `${value}n` : value,
      )
    expect(text(second)).toBe(text(first))
    expect(first.faults).toEqual([])
    expect(first.history.length).toBeGreaterThan(100)
  })

  it('is another one with another seed', async () => {
    const [first, second] = [
      await simulate(BUSY, { createInstance: createWorker }),
      await simulate({ ...BUSY, seed: 6 }, { createInstance: createWorker }),
    ]
    expect(formatSimulation(second)).not.toBe(formatSimulation(first))
  })

  it('that is not recorded ends the same way', async () => {
    const [recorded, other] = [
      await simulate(BUSY, { createInstance: createWorker }),
      await simulate(BUSY, { createInstance: createWorker, isRecorded: false }),
    ]
    expect(other.history).toEqual([])
    expect(other.transcript).toEqual([])
    expect({ ...other.figures, longestTakeoverSeconds: 0 }).toEqual({ ...recorded.figures, longestTakeoverSeconds: 0 })
  })
})

describe('a fault that was put in on purpose', () => {
  const options = {
    ...explorationOptions(parseSoakOptions(['--seeds', '200', '--family', 'claims'])),
    createBackend,
    maxShrinkSimulations: 60,
  }

  it('is found, told with its scenario and transcript, and found again by the command that is named', { timeout: 120_000 }, async () => {
    const failure = await explore(options).catch((error: unknown) => error)
    if (!(failure instanceof ExplorationFailure)) throw failure
    expect(failure.message).toContain('two_leaders')
    expect(failure.message).toContain(`Scenario: ${JSON.stringify(failure.result.scenario)}`)
    expect(failure.message).toMatch(/ >> .* is (paused|killed)|backend /)
    const command = /Again: pnpm soak (.*)$/m.exec(failure.message)?.[1] ?? ''
    const again = await explore({ ...options, ...explorationOptions(parseSoakOptions(command.split(' '))), createBackend }).catch(
      (error: unknown) => error,
    )
    if (!(again instanceof ExplorationFailure)) throw again
    expect(again.result.scenario).toEqual(failure.result.scenario)
    expect(again.result.faults).toEqual(failure.result.faults)
    const alone = await simulate(failure.result.scenario, { createInstance: createWorker, createBackend })
    expect(alone.faults).toEqual(failure.result.faults)
  })
})

it('a soak that finds nothing prints its figures', { timeout: 60_000 }, async () => {
  const lines: string[] = []
  expect(await soak(parseSoakOptions(['--seeds', '10']), (line) => lines.push(line), 0)).toBe(true)
  expect(lines[0]).toMatch(/^1 scenarios, 0\.0 h simulated in \d+ s$/)
  expect(lines.at(-1)).toMatch(/^10 scenarios.* nothing went wrong\n\d+ terms, .*\nlongest without owner .*\n {2}bad_/)
})
