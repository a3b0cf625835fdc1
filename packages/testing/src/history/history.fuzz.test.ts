import { CoordinationError } from '@es/coordination-core'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { checkHistory } from './check-history.js'
import { formatBreaches } from './format-breaches.js'
import { HISTORY_FIELDS } from './history-fields.js'
import { formatHistory, parseHistory } from './history-json.js'
import type { HistoryCheckOptions } from './history-options.js'

/** `runs` inputs, the same ones every time. `FUZZ_SEED` makes them others and `FUZZ_FACTOR` more (see CONTRIBUTING.md). */
function fuzzing(runs: number): { readonly seed: number; readonly numRuns: number } {
  const { FUZZ_SEED = '1', FUZZ_FACTOR = '1' } = process.env
  return { seed: Number(FUZZ_SEED), numRuns: Math.ceil(runs * Number(FUZZ_FACTOR)) }
}

const TYPES = Object.keys(HISTORY_FIELDS) as (keyof typeof HISTORY_FIELDS)[]

const fit: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  at: fc.oneof(fc.integer({ min: 0, max: 50 }), fc.constantFrom(-1e9, 1e300, 0.1)),
  instanceId: fc.constantFrom('a', 'b', '__proto__'),
  subscription: fc.constantFrom('s', 't', 'constructor'),
  token: fc.constantFrom('1', '2', 3, null, '99999999999999999999'),
  incarnation: fc.constantFrom('i', 'j'),
  position: fc.nat(5),
  cause: fc.constantFrom('revoked', 'stopping', 'lost', 'failed', 'abandoned'),
  kind: fc.constantFrom('partition', 'restart'),
  trustedUntil: fc.integer({ min: 0, max: 60 }),
}
const hurtful = fc.oneof(fc.jsonValue({ maxDepth: 1 }), fc.constantFrom('', 'x'.repeat(2000), -1, 1e300, 2 ** 53, '1'.repeat(50)))

/** An event, mostly one that can be read. */
const event = fc.constantFrom(...TYPES).chain((type) => {
  const names = Object.keys(HISTORY_FIELDS[type])
  const values = Object.fromEntries(
    names.map((name) => [name, fc.oneof({ weight: 60, arbitrary: fit[name] ?? fc.constant('x') }, { weight: 1, arbitrary: hurtful })]),
  )
  return fc.record({ type: fc.constant(type), ...values })
})
const line = fc.oneof(
  { weight: 100, arbitrary: event.map((value) => JSON.stringify(value)) },
  { weight: 1, arbitrary: fc.constantFrom('', '{', 'null', '[]', '{"type":"__proto__"}', '{"type":"elected"}', '\ufeff{}') },
)

/** Whether it went well; otherwise the documented error, and a short one. */
function succeeds(code: string, use: () => unknown): boolean {
  try {
    use()
    return true
  } catch (error) {
    expect(error).toBeInstanceOf(CoordinationError)
    expect((error as CoordinationError).code).toBe(code)
    expect((error as CoordinationError).message.length).toBeLessThan(10_000)
    return false
  }
}

it('any lines are a history that can be judged, and written again, or one documented error, 2,000 times', () => {
  const outcomes = new Set<string>()
  fc.assert(
    fc.property(
      fc.array(line, { maxLength: 25 }),
      fc.constantFrom<HistoryCheckOptions>({}, { ownedBy: 'run' }, { maxSecondsWithoutOwner: 1, toleranceSeconds: 1 }),
      (lines, options) => {
        const wasRead = succeeds('invalid_history', () => {
          const history = parseHistory(lines.join('\n'))
          const report = checkHistory(history, options)
          expect(report.holds).toBe(report.breachCount === 0)
          expect(report.figures.events).toBe(history.length)
          expect(formatBreaches(report).length).toBeGreaterThan(0)
          expect(parseHistory(formatHistory(history))).toEqual(history)
          outcomes.add(report.holds ? 'holds' : 'broken')
        })
        if (!wasRead) outcomes.add('refused')
      },
    ),
    fuzzing(2000),
  )
  expect([...outcomes].sort()).toEqual(['broken', 'holds', 'refused'])
}, 120_000)

it('any options are taken, or refused with one documented error, 3,000 times', () => {
  const names = [
    'ownedBy',
    'subscriptions',
    'maxSecondsWithoutOwner',
    'maxSecondsWithoutLeader',
    'toleranceSeconds',
    'movesPerChange',
    'changeLastsSeconds',
  ]
  names.push('firstPosition', 'lastPositions', 'maxUnrecordedAtCrash', 'skip', 'maxBreaches', 'windowSize')
  const value = fc.oneof(
    fc.constantFrom<unknown>(
      undefined,
      null,
      0,
      -1,
      0.5,
      5,
      1e300,
      Number.NaN,
      Number.POSITIVE_INFINITY,
      '',
      'run',
      ['H1'],
      ['s'],
      [null],
      new Map([['s', 3]]),
    ),
    fc.anything({ maxDepth: 1, withBigInt: true, withNullPrototype: true, withMap: true }),
  )
  const history = parseHistory(
    '{"type":"instance_started","at":0,"instanceId":"a","incarnation":"i"}\n{"type":"stopped","at":9,"instanceId":"a"}\n',
  )
  const outcomes = new Set<boolean>()
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom(...names), value, { maxKeys: 3 }), value, (options, bag) => {
      outcomes.add(succeeds('invalid_options', () => checkHistory(history, options as HistoryCheckOptions)))
      succeeds('invalid_options', () => checkHistory(history, bag as HistoryCheckOptions))
    }),
    fuzzing(3000),
  )
  expect(outcomes).toEqual(new Set([true, false]))
}, 120_000)
