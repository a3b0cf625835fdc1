import pg, { type ClientConfig } from 'pg'
import { afterEach, describe, expect, it, vi } from 'vitest'
import {
  clientConfig,
  describeConnection,
  type PostgresConnection,
  requireConnection,
  requirePooler,
  startupOptions,
} from './session-settings.js'

const TIMINGS = { leaseSeconds: 10, waitSliceSeconds: 1, statementSeconds: 6 }

/** The settings of `-c name=value -c ...`; a later one wins, as in the server. */
function settingsOf(options: string): Record<string, string> {
  return Object.fromEntries([...options.matchAll(/-c ?(\S+?)=(\S+)/g)].map(([, name, value]) => [name, value]))
}

/** What `pg` would send, after it has read the connection string over the configuration. */
function sentBy(connection: PostgresConnection): Record<string, string> {
  const client = new pg.Client(clientConfig(connection, TIMINGS))
  return (client as unknown as { getStartupConf(): Record<string, string> }).getStartupConf()
}

afterEach(() => {
  vi.unstubAllEnvs()
})

describe('startupOptions', () => {
  it('makes the server end a silent session after the lease, and a statement after its bound', () => {
    expect(settingsOf(startupOptions(TIMINGS))).toMatchObject({
      idle_session_timeout: '10000',
      idle_in_transaction_session_timeout: '10000',
      lock_timeout: '1000',
      statement_timeout: '6000',
      synchronous_commit: 'on',
    })
  })

  it.each([0.3, 1, 2.5, 10, 32_767])('never lets TCP give a client up before a lease of %d s has passed', (leaseSeconds) => {
    const settings = settingsOf(startupOptions({ ...TIMINGS, leaseSeconds }))
    expect(Number(settings.tcp_user_timeout)).toBeGreaterThanOrEqual(leaseSeconds * 1000)
    expect(Number(settings.tcp_keepalives_idle)).toBeGreaterThanOrEqual(leaseSeconds)
    // What Linux takes at most; beyond it the setting would be dropped and the default of the machine would count.
    expect(Number(settings.tcp_keepalives_idle)).toBeLessThanOrEqual(32_767)
  })

  it('rounds up to whole units, because 0 would mean no limit', () => {
    const settings = settingsOf(startupOptions({ leaseSeconds: 0.3001, waitSliceSeconds: 0.0001, statementSeconds: 0.0001 }))
    expect(settings).toMatchObject({ idle_session_timeout: '301', lock_timeout: '1', statement_timeout: '1', tcp_keepalives_idle: '1' })
  })
})

describe('clientConfig', () => {
  const OURS = startupOptions(TIMINGS)

  it.each<[string, PostgresConnection, string]>([
    ['a connection string', 'postgres://u:p@h:5433/db', OURS],
    [
      'a connection string with other parameters',
      'postgres://u:p@h/db?application_name=x&options=-c%20search_path%3Da',
      `-c search_path=a ${OURS}`,
    ],
    ['an address that no URL may have', 'postgres://u:p@/db?host=/run/postgresql&options=-c%20search_path%3Da', `-c search_path=a ${OURS}`],
    ['a configuration', { host: 'h', options: '-c search_path=a' }, `-c search_path=a ${OURS}`],
    [
      'a configuration around a connection string',
      { connectionString: 'postgres://u:p@h/db?options=-c%20search_path%3Db', options: '-c search_path=a' },
      `-c search_path=a -c search_path=b ${OURS}`,
    ],
    ['a socket folder', '/run/postgresql db', OURS],
  ])('adds our options behind those of %s', (_what, connection, options) => {
    expect(sentBy(connection).options).toBe(options)
  })

  it('adds them behind PGOPTIONS, which counts only where the connection has no options, as in pg', () => {
    vi.stubEnv('PGOPTIONS', '-c search_path=env')
    expect(sentBy('postgres://u:p@h/db').options).toBe(`-c search_path=env ${OURS}`)
    expect(sentBy({ host: 'h' }).options).toBe(`-c search_path=env ${OURS}`)
    expect(sentBy({ host: 'h', options: '-c search_path=a' }).options).toBe(`-c search_path=a ${OURS}`)
    expect(sentBy('postgres://u:p@h/db?options=-c%20search_path%3Da').options).toBe(`-c search_path=a ${OURS}`)
  })

  it('adds none through a pooler, which would refuse them, and keeps those of the user', () => {
    const sent = (connection: PostgresConnection): Record<string, string> =>
      (
        new pg.Client(clientConfig(connection, TIMINGS, 'session')) as unknown as { getStartupConf(): Record<string, string> }
      ).getStartupConf()
    expect(Object.keys(sent({ host: 'h' })).sort()).toEqual(['database', 'user'])
    expect(sent('postgres://u:p@h/db?options=-c%20search_path%3Da').options).toBe('-c search_path=a')
  })

  it('lets our options win over the same ones of the user', () => {
    const own = settingsOf(sentBy({ host: 'h', options: '-c idle_session_timeout=1 -c lock_timeout=2' }).options ?? '')
    expect(own).toMatchObject({ idle_session_timeout: '10000', lock_timeout: '1000' })
  })

  const TIMEOUTS = { statement_timeout: 5, lock_timeout: 5, idle_in_transaction_session_timeout: 5, query_timeout: 5 }

  it.each<[string, PostgresConnection]>([
    ['a configuration', { host: 'h', ...TIMEOUTS }],
    [
      'a connection string',
      `postgres://u:p@h/db?${Object.entries(TIMEOUTS)
        .map((pair) => pair.join('='))
        .join('&')}`,
    ],
  ])('takes no timeout of its own from %s, which pg would send apart from the options and so over them', (_what, connection) => {
    expect(Object.keys(sentBy(connection)).sort()).toEqual(['database', 'options', 'user'].sort())
    const parameters = Reflect.get(new pg.Client(clientConfig(connection, TIMINGS)), 'connectionParameters') as ClientConfig
    expect(parameters.query_timeout).toBe(false)
  })

  it('does not let the user change how rows are read', () => {
    const config = clientConfig({ host: 'h', binary: true, types: { getTypeParser: () => String } } as ClientConfig, TIMINGS)
    expect(config).not.toHaveProperty('binary')
    expect(config).not.toHaveProperty('types')
  })

  it('keeps user, password, host, port, database and TLS as they are, whatever characters they have', () => {
    const strange = 'postgres://us%40er:p%3Aw%2Fd%3F%23%25@h.example:5433/d%20b?sslmode=no-verify&application_name=a%20b'
    const plain = new pg.Client({ connectionString: strange })
    const ours = new pg.Client(clientConfig(strange, TIMINGS))
    for (const name of ['user', 'password', 'host', 'port', 'database', 'ssl'] as const) expect(ours[name]).toEqual(plain[name])
  })

  it('leaves the configuration that it was given as it was', () => {
    const given = Object.freeze({ host: 'h', options: '-c a.b=1', statement_timeout: 5 })
    clientConfig(given, TIMINGS)
    expect(given).toEqual({ host: 'h', options: '-c a.b=1', statement_timeout: 5 })
  })
})

describe('requireConnection', () => {
  it('refuses an empty text, which the driver would take for a server on this machine', () => {
    expect(() => requireConnection('')).toThrow('connection is empty')
    expect(requireConnection({})).toEqual({})
  })

  it.each<[string, unknown]>([
    ['a pool', new pg.Pool({ max: 1, maxUses: 3, idleTimeoutMillis: 500 })],
    ['a client', new pg.Client()],
    ['nothing', undefined],
    ['null', null],
    ['a number', 5432],
  ])('refuses %s and says what it must be (P6)', (_what, connection) => {
    const refusal = {
      code: 'invalid_options',
      message: expect.stringContaining('a connection string or a client configuration, not a pool or a client'),
    }
    expect(() => requireConnection(connection)).toThrow(expect.objectContaining(refusal))
    expect(() => clientConfig(connection as PostgresConnection, TIMINGS)).toThrow(expect.objectContaining(refusal))
  })

  it('takes the configuration of a pool, of which only the address counts: no pool is made of it (P6)', () => {
    const config = { host: 'h', max: 1, maxUses: 3, maxLifetimeSeconds: 2, idleTimeoutMillis: 500 }
    expect(requireConnection(config)).toBe(config)
  })
})

describe('requirePooler', () => {
  it('takes a session pooler, or none, which is the default', () => {
    expect([requirePooler(), requirePooler('none'), requirePooler('session')]).toEqual(['none', 'none', 'session'])
  })

  it.each(['transaction', true, null])('refuses %j', (pooler) => {
    const refusal = { code: 'invalid_options', message: expect.stringContaining("pooler must be 'none' or 'session'") }
    expect(() => requirePooler(pooler)).toThrow(expect.objectContaining(refusal))
  })
})

describe('describeConnection', () => {
  it('names server and database, and neither user nor password', () => {
    expect(describeConnection(new pg.Client('postgres://somebody:secret@db.example:5433/app'))).toBe('db.example:5433/app')
  })
})
