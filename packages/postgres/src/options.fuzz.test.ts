import { CoordinationError } from '@es/coordination-core'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fuzzing } from './fuzz.test.harness.js'
import { PostgresCoordination } from './postgres-coordination.js'
import { PostgresLeaderElector } from './postgres-leader-elector.js'
import { PostgresLockSession } from './postgres-lock-session.js'
import { PostgresOwnership } from './postgres-ownership.js'
import { PostgresTransport } from './postgres-transport.js'
import { RecordingLogger } from './recording-logger.test.harness.js'
import { clientConfig, requireConnection } from './session-settings.js'
import { deriveChannel } from './transport-channel.js'

const SECRET = 'hunter2'
const LONGEST_ERROR = 500

const anyOption: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(
    ...[undefined, null, true, 0, -0, 1, -1, 0.3, 15, 1e6, 1e300, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, 5n],
    ...[
      '',
      'x',
      '15',
      '\ud800',
      '__proto__',
      'none',
      'session',
      'x'.repeat(1024),
      `postgres://u:${SECRET}@h/${'x'.repeat(100_000)}`,
      Symbol('s'),
    ],
    ...[[], {}, { password: SECRET }, { connect() {} }, [SECRET], new Map(), Object.create(null), () => SECRET, class {}, new Date(0)],
  ),
  fc.anything({ maxDepth: 2, maxKeys: 3, withBigInt: true, withNullPrototype: true, withMap: true }),
)

const logger = new RecordingLogger()
const shared = { connection: `postgres://user:${SECRET}@127.0.0.1:1/database`, logger, requestTimeoutSeconds: 5, pooler: 'none' }
const lock = { ...shared, identity: 'a', leaseSeconds: 10, renewDeadlineSeconds: 6, waitSliceSeconds: 1 }
const election = { election: 'e', namespace: 'n', longestRetrySeconds: 5, pollSeconds: 0.5, random: Math.random }
const claims = { namespace: 'n', maxClaims: 10, maxLockTableShare: 0.5 }
const transport = { ...shared, instanceId: 'a', namespace: 'n', healthCheckSeconds: 5, longestRetrySeconds: 5, maxMessageBytes: 10_000 }
const session = new PostgresLockSession(lock as never)
/** On a session, an election has one elector. */
const onNewSession = (options: { readonly session?: unknown } | null): never =>
  (options?.session === session ? { ...options, session: new PostgresLockSession(lock as never) } : options) as never

/** Each with options that are fit for use. None of them connects to anything. */
const MADE: readonly (readonly [string, object, (options: never) => unknown])[] = [
  ['PostgresLockSession', lock, (options) => new PostgresLockSession(options)],
  ['PostgresLeaderElector', { ...lock, ...election }, (options) => new PostgresLeaderElector(options)],
  ['PostgresLeaderElector on a session', { ...election, session }, (options) => new PostgresLeaderElector(onNewSession(options))],
  ['PostgresOwnership', { ...lock, ...claims }, (options) => new PostgresOwnership(options)],
  ['PostgresTransport', { ...transport, random: Math.random }, (options) => new PostgresTransport(options)],
  ['PostgresCoordination', { ...lock, ...election, ...claims, ...transport }, (options) => new PostgresCoordination(options)],
]

/** Whether it went well; otherwise one documented error, short and without what is secret. */
function succeeds(use: () => unknown): boolean {
  try {
    use()
    return true
  } catch (error) {
    expect(error).toBeInstanceOf(CoordinationError)
    const { code, message } = error as CoordinationError
    expect(code).toBe('invalid_options')
    expect(message.length).toBeLessThan(LONGEST_ERROR)
    expect(message).not.toContain(SECRET)
    return false
  }
}

describe('options, whatever they are,', () => {
  it.each(MADE)('make a %s, or one documented error, 1,500 times', (_name, fit, make) => {
    const outcomes: boolean[] = []
    const keys = Object.keys(fit)
    const wrong = fc.dictionary(fc.constantFrom(...keys), anyOption, { maxKeys: 3 })
    fc.assert(
      fc.property(wrong, fc.subarray(keys, { maxLength: 2 }), anyOption, (changes, missing, bag) => {
        const options: Record<string, unknown> = { ...fit, ...changes }
        for (const key of missing) delete options[key]
        outcomes.push(succeeds(() => make(options as never)))
        succeeds(() => make(bag as never))
      }),
      fuzzing(1500),
    )
    expect(new Set(outcomes)).toEqual(new Set([true, false]))
    expect(logger.lines.map((line) => JSON.stringify(line)).join()).not.toContain(SECRET)
    logger.lines.length = 0
  })

  it('make a channel or a client configuration, or one documented error, 2,000 times', () => {
    const timings = { leaseSeconds: 10, waitSliceSeconds: 1, statementSeconds: 6 }
    fc.assert(
      fc.property(anyOption, fc.string({ unit: 'binary' }), (value, text) => {
        succeeds(() => deriveChannel('n', value as never))
        succeeds(() => requireConnection(value))
        expect(deriveChannel(text, text || 'x').length).toBeLessThanOrEqual(60)
        expect(succeeds(() => clientConfig(text || 'x', timings))).toBe(true)
      }),
      fuzzing(2000),
    )
  })
})
