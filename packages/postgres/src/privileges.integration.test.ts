import { inspect } from 'node:util'
import { ConnectionError } from '@es/coordination-core'
import { until } from '@es/coordination-testing'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { deriveLockKey } from './lock-key.js'
import { PostgresCoordination } from './postgres-coordination.js'
import { RecordingLogger } from './recording-logger.test.harness.js'
import { type GuardedDatabase, guardedDatabase } from './strangers.test.harness.js'
import { deriveChannel } from './transport-channel.js'

const TIMINGS = { leaseSeconds: 3, requestTimeoutSeconds: 2, pollSeconds: 0.1 }

let database: GuardedDatabase
/** Of a role that may connect to the database, and of one that may not. */
let member: string
let outsider: string

beforeAll(async () => {
  database = await guardedDatabase(inject('databaseUrl'))
  member = await database.newRole({ mayConnect: true })
  outsider = await database.newRole({ mayConnect: false })
})

afterAll(async () => {
  await database?.[Symbol.asyncDispose]()
})

function coordination(instanceId: string, connection: string, logger = new RecordingLogger()): PostgresCoordination {
  return new PostgresCoordination({ instanceId, connection, logger, ...TIMINGS })
}

async function connected(url: string, applicationName = 'stranger'): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, application_name: applicationName })
  await client.connect()
  return client
}

describe('a role with no privilege but CONNECT', () => {
  it('is all that an instance needs: it leads, claims, looks, publishes and hears', async () => {
    await using a = coordination('a', member)
    await using b = coordination('b', member)
    expect(await a.elector.tryAcquire()).toBe(true)
    expect(await b.elector.tryAcquire()).toBe(false)
    expect((await a.ownership.claim(['s1'])).claimed).toHaveLength(1)
    expect((await b.ownership.claim(['s1'])).denied).toMatchObject([{ subscription: 's1', holder: { instanceId: 'a' } }])
    expect((await b.ownership.observe(['s1'])).get('s1')?.instanceId).toBe('a')
    await until(() => b.elector.currentLeader === 'a', { what: 'b to know the leader' })
    const heard: unknown[] = []
    await b.transport.subscribe('t', (message) => heard.push(message))
    await a.transport.publish('t', { hello: 'b' })
    await until(() => heard.length === 1, { what: 'the message' })
  })

  it('may also write on the channels and take the locks of others: whoever may connect is trusted', async () => {
    const stranger = await connected(member)
    try {
      await using a = coordination('a', member)
      const heard: unknown[] = []
      await a.transport.subscribe('t', (message) => heard.push(message))
      await stranger.query('SELECT pg_notify($1, $2)', [deriveChannel('default', 't'), '{"from":"stranger"}'])
      await until(() => heard.length === 1, { what: 'the forged message' })
      const overheard: (string | undefined)[] = []
      stranger.on('notification', ({ payload }) => overheard.push(payload))
      await stranger.query(`LISTEN ${deriveChannel('default', 't')}`)
      await a.transport.publish('t', { secret: false })
      await until(() => overheard.includes('{"secret":false}'), { what: 'the stranger to overhear' })

      const lock = (namespace: string, name: string): Promise<unknown> =>
        stranger.query('SELECT pg_advisory_lock($1)', [deriveLockKey(namespace, name)])
      await lock('leader/default', 'default')
      await lock('claim/default', 's1')
      expect(await a.elector.tryAcquire()).toBe(false)
      // It is not hidden: everybody is shown who it is.
      expect((await a.ownership.claim(['s1'])).denied).toMatchObject([{ subscription: 's1', holder: { instanceId: 'stranger' } }])
      await stranger.query('SELECT pg_advisory_unlock_all()')
      expect(await a.elector.tryAcquire()).toBe(true)
    } finally {
      await stranger.end()
    }
  })

  it('cannot end the session of another role, nor take a lock that is held', async () => {
    const stranger = await connected(await database.newRole({ mayConnect: true }))
    try {
      await using a = coordination('a', member)
      const { claimed } = await a.ownership.claim(['s1'])
      const { rows } = await stranger.query('SELECT pg_try_advisory_lock($1) AS won', [deriveLockKey('claim/default', 's1')])
      expect(rows).toEqual([{ won: false }])
      const end = stranger.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'a'`)
      await expect(end).rejects.toMatchObject({ code: '42501' })
      // Unlocking what another session holds does nothing but warn.
      await stranger.query('SELECT pg_advisory_unlock($1)', [deriveLockKey('claim/default', 's1')])
      expect(claimed[0]?.isHeld).toBe(true)
      expect((await a.ownership.observe(['s1'])).get('s1')?.instanceId).toBe('a')
    } finally {
      await stranger.end()
    }
  })
})

describe('a role that may connect to another database of the server only', () => {
  it('reaches neither the channels nor the locks, and its transactions count on with the same counter', async () => {
    await using elsewhere = await guardedDatabase(inject('databaseUrl'))
    const neighbour = await connected(await elsewhere.newRole({ mayConnect: true }))
    try {
      await using a = coordination('a', member)
      const heard: unknown[] = []
      await a.transport.subscribe('t', (message) => heard.push(message))
      await neighbour.query('SELECT pg_notify($1, $2)', [deriveChannel('default', 't'), '{"from":"neighbour"}'])
      await neighbour.query('SELECT pg_advisory_lock($1)', [deriveLockKey('claim/default', 's9')])
      const { claimed } = await a.ownership.claim(['s9'])
      expect(claimed).toHaveLength(1)
      const { rows } = await neighbour.query('SELECT pg_current_xact_id()::text AS next')
      expect(BigInt(rows[0].next)).toBeGreaterThan(claimed[0]?.fencingToken ?? 2n ** 64n)
      // What is sent later arrives later: had the neighbour been heard, it would have been by now.
      await a.transport.publish('t', { from: 'a' })
      await until(() => heard.length > 0, { what: 'the own message' })
      expect(heard).toEqual([{ from: 'a' }])
    } finally {
      await neighbour.end()
    }
  })
})

describe('a role without CONNECT on the database', () => {
  it('is kept out of everything', async () => {
    await using shut = coordination('x', outsider)
    for (const call of [() => shut.elector.tryAcquire(), () => shut.ownership.claim(['s']), () => shut.transport.publish('t', {})]) {
      await expect(call()).rejects.toMatchObject({ code: 'authentication_failed', message: expect.stringContaining('CONNECT') })
    }
    await expect(connected(outsider)).rejects.toMatchObject({ code: '42501' })
  })
})

describe('what is secret', () => {
  it.each([
    ['a wrong password', (url: URL) => Object.assign(url, { password: 'hunter2' })],
    ['a server that is not there', (url: URL) => Object.assign(url, { password: 'hunter2', port: '1' })],
    ['a database that is not there', (url: URL) => Object.assign(url, { pathname: '/nowhere' })],
    ['options that the server refuses', (url: URL) => Object.assign(url, { search: '?options=-c%20no_such_setting%3D1' })],
  ])('is in no error and no log line: %s', async (_name, change) => {
    const url = change(new URL(member))
    const logger = new RecordingLogger()
    await using shut = coordination('x', url.href, logger)
    const errors: unknown[] = []
    const patience = new AbortController()
    const campaign = shut.elector.campaign({ signal: patience.signal }).catch((error: unknown) => errors.push(error))
    for (const call of [() => shut.elector.tryAcquire(), () => shut.ownership.claim(['s']), () => shut.transport.publish('t', {})]) {
      const error = await call().catch((reason: unknown) => reason)
      expect(error).toBeInstanceOf(ConnectionError)
      errors.push(error)
    }
    patience.abort(new Error('enough'))
    await campaign
    // With causes, and everything that hangs on them.
    const shown = inspect([errors, logger.lines], { depth: 20, showHidden: true, maxStringLength: null, maxArrayLength: null })
    expect(shown).not.toContain(url.password)
    expect(shown).not.toContain(new URL(member).password)
  })
})
