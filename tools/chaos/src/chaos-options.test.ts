import { describe, expect, it } from 'vitest'
import { parseChaosOptions, UsageError, usage } from './chaos-options.js'
import { FAULT_NAMES } from './plan/fault-kinds.js'

describe('the options', () => {
  it('have defaults', () => {
    expect(parseChaosOptions([])).toEqual({
      ...{ minutes: 1, seed: 1, leaseSeconds: 1.5, eventsPerSecond: 25, isKept: false, isRecorded: false, sabotage: null },
      faults: FAULT_NAMES,
    })
  })

  it('are read, also behind a separator', () => {
    const given = [
      '--',
      '--minutes',
      '0.5',
      '--seed',
      '7',
      '--lease-seconds',
      '1',
      '--faults',
      'kill, halt',
      '--sabotage',
      'skip',
      '--keep',
    ]
    expect(parseChaosOptions(given)).toMatchObject({
      ...{ minutes: 0.5, seed: 7, leaseSeconds: 1, faults: ['kill', 'halt'], sabotage: 'skip', isKept: true },
    })
  })

  it.each([
    [['--minutes', 'soon'], '--minutes must be a number from 0.1 to 1440, got soon'],
    [['--minutes', '0'], '--minutes must be a number from 0.1 to 1440, got 0'],
    [['--minutes', ''], '--minutes must be a number from 0.1 to 1440, got '],
    [['--seed', '1.5'], '--seed must be a whole number from 0 to 4294967295, got 1.5'],
    [['--seed', '-1'], "Option '--seed' argument is ambiguous"],
    [['--lease-seconds', 'NaN'], '--lease-seconds must be a number from 0.6 to 60, got NaN'],
    [['--faults', 'kill,flood'], /--faults must be some of kill,.*, got flood/],
    [['--sabotage', 'nothing'], /--sabotage must be one of ignore-token, .*, got nothing/],
    [['--hours', '1'], "Unknown option '--hours'"],
    [['fast'], "Unexpected argument 'fast'"],
  ])('refuse %j', (args, message) => {
    expect(() => parseChaosOptions(args)).toThrow(UsageError)
    expect(() => parseChaosOptions(args)).toThrow(message)
  })

  it('are all named in the usage', () => {
    for (const flag of ['minutes', 'seed', 'lease-seconds', 'events-per-second', 'faults', 'keep', 'record', 'sabotage'])
      expect(usage()).toContain(`--${flag} `)
  })
})
