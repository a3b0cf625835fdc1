import { describe, expect, it } from 'vitest'
import { parseSoakOptions } from './soak-options.js'

describe('the command line of pnpm soak', () => {
  it('has defaults', () => {
    expect(parseSoakOptions([])).toEqual({ scenarios: 2000, seed: 1, path: null, minutes: null, family: null, backend: 'locks' })
  })

  it('reads what it is told', () => {
    expect(parseSoakOptions(['--seed', '7', '--path', '3:0:1', '--family', 'cut_bus', '--backend', 'memory'])).toEqual({
      ...{ scenarios: 2000, seed: 7, path: '3:0:1', minutes: null, family: 'cut_bus', backend: 'memory' },
    })
    expect(parseSoakOptions(['--minutes', '0.5']).minutes).toBe(0.5)
    expect(parseSoakOptions(['--seeds', '12']).scenarios).toBe(12)
  })

  it.each([
    [['--seeds', '0'], '--seeds must be a whole number of at least 1, got 0'],
    [['--seeds', '1.5'], '--seeds must be a whole number'],
    [['--seeds', ''], '--seeds must be a whole number'],
    [['--minutes', 'ten'], '--minutes must be a number of at least 0.01, got ten'],
    [['--minutes', '1', '--seeds', '1'], '--seeds and --minutes exclude each other'],
    [['--seed', '1', '--path', 'one'], '--path must be numbers with colons between'],
    [['--path', '1'], '--path needs the --seed that it belongs to'],
    [['--family', 'none'], '--family must be one of claims, repeating_bus, cut_bus, got none'],
    [['--backend', 'disk'], '--backend must be one of locks, memory, got disk'],
    [['--sead', '1'], '--sead'],
    [['more'], 'more'],
  ])('refuses %j', (args, message) => {
    expect(() => parseSoakOptions(args)).toThrow(message)
  })
})
