import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { PostgresLeaderElector } from './postgres-leader-elector.js'
import type { PostgresLockSessionOptions } from './postgres-lock-session.js'

const VALID = { identity: 'a', election: 'e', connection: 'postgres://u:p@127.0.0.1:1/db' }

function refusalOf(options: Record<string, unknown>): { code: string; message: string } {
  try {
    new PostgresLeaderElector({ ...VALID, ...options })
  } catch (error) {
    return error as { code: string; message: string }
  }
  throw new Error(`${JSON.stringify(options)} were accepted`)
}

describe('the options of an elector', () => {
  it.each(['leaseSeconds', 'renewDeadlineSeconds', 'waitSliceSeconds', 'requestTimeoutSeconds', 'longestRetrySeconds', 'pollSeconds'])(
    'refuse a %s of 0, below, NaN, infinite or no number, with its name and value (W4)',
    (name) => {
      for (const value of [0, -1, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, '5']) {
        const { code, message } = refusalOf({ [name]: value })
        expect(code).toBe('invalid_options')
        expect(message).toContain(name)
        expect(message).toContain(String(value))
      }
    },
  )

  it.each<[string, Partial<PostgresLockSessionOptions>, string[]]>([
    [
      'a deadline that equals the lease',
      { leaseSeconds: 10, renewDeadlineSeconds: 10 },
      ['renewDeadlineSeconds', '11', 'leaseSeconds', '10'],
    ],
    [
      'a deadline that clocks of different rate could carry over the lease',
      { leaseSeconds: 11, renewDeadlineSeconds: 10.01 },
      ['renewDeadlineSeconds', 'leaseSeconds', '11'],
    ],
    ['a deadline above the lease', { leaseSeconds: 1, renewDeadlineSeconds: 60 }, ['renewDeadlineSeconds', '66', 'leaseSeconds', '1']],
    [
      'a renewal that comes only at the deadline',
      { leaseSeconds: 9, renewDeadlineSeconds: 3 },
      ['leaseSeconds / 3', '3', 'renewDeadlineSeconds', '3'],
    ],
    [
      'a deadline before the first renewal',
      { leaseSeconds: 9, renewDeadlineSeconds: 1 },
      ['leaseSeconds / 3', '3', 'renewDeadlineSeconds', '1'],
    ],
  ])('refuse %s, with both names and both values (W4)', (_what, options, parts) => {
    const { code, message } = refusalOf(options)
    expect(code).toBe('invalid_options')
    for (const part of parts) expect(message).toContain(part)
  })

  it('accept a deadline that leaves just the margin for clocks of different rate', () => {
    expect(() => new PostgresLeaderElector({ ...VALID, leaseSeconds: 11, renewDeadlineSeconds: 10 })).not.toThrow()
  })

  it.each([
    [0.29, 'at least 0.3'],
    [32_768, 'at most 32767'],
  ])('refuse a lease of %d s, which the server could not keep', (leaseSeconds, rule) => {
    expect(refusalOf({ leaseSeconds }).message).toContain(rule)
  })

  it.each([
    ['identity', ''],
    ['identity', 'a\ud800'],
    ['identity', 'x'.repeat(1025)],
    ['election', ''],
    ['election', undefined],
    ['namespace', ''],
    ['namespace', 7],
    ['namespace', 'a\0b'],
  ])('refuse %s %j (W4)', (name, value) => {
    const { code, message } = refusalOf({ [name]: value })
    expect(code).toBe('invalid_options')
    expect(message).toContain(name)
  })

  it.each<[string, () => unknown]>([
    ['a pool', () => new pg.Pool({ max: 1, idleTimeoutMillis: 500, maxUses: 3 })],
    ['a client', () => new pg.Client()],
    ['nothing', () => undefined],
  ])('refuse %s as connection when the elector is made, not when it first connects (P6, P7)', (_what, connection) => {
    expect(refusalOf({ connection: connection() })).toMatchObject({
      code: 'invalid_options',
      message: expect.stringContaining('not a pool or a client'),
    })
  })
})
