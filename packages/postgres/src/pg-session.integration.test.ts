import { systemClock } from '@es/coordination-core'
import { FaultProxy } from '@es/coordination-testing'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { openSession, type Session } from './pg-session.js'
import { TestElection, through } from './test-election.test.harness.js'

let election: TestElection

beforeAll(async () => {
  election = await TestElection.on(inject('databaseUrl'))
})

afterAll(() => election?.[Symbol.asyncDispose]())

const open = (connection: string): Promise<Session> =>
  openSession({
    connection,
    pooler: 'none',
    timings: { leaseSeconds: 5, waitSliceSeconds: 0.5, statementSeconds: 3 },
    applicationName: 'direct',
    timeoutSeconds: 10,
    signal: new AbortController().signal,
    clock: systemClock,
  })

describe('a session', () => {
  it('never takes the server for older than it is, however long its question is under way (L5)', async () => {
    const { hostname, port } = new URL(election.url)
    await using proxy = await FaultProxy.start({ host: hostname, port: Number(port) })
    proxy.delay(0.3)
    const session = await open(through(election.url, proxy))
    const believed = session.serverUpSeconds + systemClock.monotonicSeconds() - session.openedAt
    const [{ age } = { age: 0 }] = await election.query<{ age: number }>(
      'SELECT extract(epoch FROM clock_timestamp() - pg_postmaster_start_time())::float8 AS age',
    )
    expect(believed).toBeLessThanOrEqual(age)
    expect(believed).toBeGreaterThan(age - 5)
    session.destroy(new Error('done'))
  })

  it('has what the lease rests on, as its server sees it', async () => {
    const session = await open(election.url)
    const names = [
      'application_name',
      'idle_session_timeout',
      'lock_timeout',
      'statement_timeout',
      'synchronous_commit',
      'tcp_keepalives_idle',
      'tcp_user_timeout',
    ]
    const rows = await session.query(
      `SELECT name, setting FROM pg_settings WHERE name IN (${names.map((name) => `'${name}'`)}) ORDER BY name`,
    )
    expect(rows.map(({ setting }) => setting)).toEqual(['direct', '5000', '500', '3000', 'on', '5', '5000'])
    await session.end(1)
  })

  it('that is destroyed is gone from the server long before its lease', async () => {
    const session = await open(election.url)
    session.destroy(new Error('enough'))
    session.destroy(new Error('again'))
    expect(await session.ended).toMatchObject({ message: 'enough' })
    await expect(session.query('SELECT 1')).rejects.toThrow()
    const startedAt = performance.now()
    while ((await election.leftovers()).sessions > 0) expect(performance.now() - startedAt).toBeLessThan(2500)
  })

  it('takes leave in bounded time although nothing answers (P7)', async () => {
    const { hostname, port } = new URL(election.url)
    await using proxy = await FaultProxy.start({ host: hostname, port: Number(port) })
    const session = await open(through(election.url, proxy))
    proxy.blackhole()
    const startedAt = performance.now()
    await session.end(0.2)
    expect(performance.now() - startedAt).toBeLessThan(2000)
    expect((await session.ended).message).toBe('The session was closed')
  })
})
