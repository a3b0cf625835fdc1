import { expect, test } from 'vitest'
import { parseDemoOptions, UsageError, usage } from './demo-options.js'
import { SCENES } from './scene.js'

test('reads arguments over defaults', () => {
  expect(parseDemoOptions(['--calm', '0.5', '--scenes', 'pause, kill', '--timeline', 'x.html', '--verbose'])).toEqual({
    eventsPerSecond: 200,
    batch: 50,
    workMs: 60,
    leaseSeconds: 2,
    calmSeconds: 0.5,
    tolerance: 1,
    scenes: ['kill', 'pause'],
    sabotage: null,
    timeline: 'x.html',
    isVerbose: true,
  })
})

test('plays all scenes by default', () => {
  expect(parseDemoOptions([]).scenes).toEqual(SCENES)
})

test.for([
  [['--frobnicate'], 'frobnicate'],
  [['--batch', '0'], '--batch must be a whole number of at least 1, got 0'],
  [['--lease-seconds', 'long'], '--lease-seconds must be a number of at least 0.3, got long'],
  [['--scenes', 'kill,nap'], '--scenes must be some of scale,kill,pause,rolling,database, got nap'],
  [['--sabotage', 'nicely'], '--sabotage must be one of rewind, skip, ignore-token, usurp, crash, got nicely'],
] as const)('refuses %j', ([args, message]) => {
  expect(() => parseDemoOptions(args)).toThrow(UsageError)
  expect(() => parseDemoOptions(args)).toThrow(message)
})

test('explains every option', () => {
  for (const flag of ['events-per-second', 'lease-seconds', 'scenes', 'timeline', 'sabotage', 'verbose'])
    expect(usage()).toContain(`--${flag}`)
})
