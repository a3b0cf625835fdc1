import { until } from '@es/coordination-testing'
import { createDatabase, type TestDatabase } from '@es/test-server'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { PostgresCoordination, type PostgresCoordinationOptions } from './postgres-coordination.js'

let database: TestDatabase
let admin: pg.Client

beforeAll(async () => {
  database = await createDatabase(inject('databaseUrl'))
  admin = new pg.Client(database.url)
  await admin.connect()
  await until(
    async () => (await admin.query(`SELECT clock_timestamp() - pg_postmaster_start_time() > interval '2 s' AS old`)).rows[0].old,
    {
      what: 'the server to be older than a lease',
    },
  )
})

afterAll(async () => {
  await admin?.end()
  await database?.drop()
})

const SILENT = { debug() {}, info() {}, warn() {}, error() {} }

function newCoordination(instanceId: string, options: Partial<PostgresCoordinationOptions> = {}): PostgresCoordination {
  return new PostgresCoordination({
    instanceId,
    connection: database.url,
    leaseSeconds: 1.5,
    requestTimeoutSeconds: 1,
    pollSeconds: 0.05,
    logger: SILENT,
    ...options,
  })
}

async function backends(): Promise<string[]> {
  const { rows } = await admin.query<{ name: string }>(
    `SELECT application_name AS name FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() ORDER BY 1`,
  )
  return rows.map(({ name }) => name)
}

describe('PostgresCoordination', () => {
  it('takes two connections an instance for all three, and none before it is used nor after it was closed', async () => {
    const a = newCoordination('a')
    const b = newCoordination('b')
    expect(await backends()).toEqual([])
    const heard: unknown[] = []
    await b.transport.subscribe('t', (message) => heard.push(message))
    await a.transport.publish('t', { from: 'a' })
    expect(await a.elector.tryAcquire()).toBe(true)
    expect(await b.elector.tryAcquire()).toBe(false)
    expect((await a.ownership.claim(['s1', 's2'])).claimed).toHaveLength(2)
    expect((await b.ownership.claim(['s2', 's3'])).denied.map(({ holder }) => holder?.instanceId)).toEqual(['a'])
    await until(() => heard.length === 1, { what: 'the message' })
    expect([a.elector.identity, a.ownership.instanceId, b.elector.currentLeader]).toEqual(['a', 'a', 'a'])
    expect(await backends()).toEqual(['a', 'b', 'es-transport a', 'es-transport b'])

    const campaign = b.elector.campaign()
    const changes: boolean[] = []
    a.elector.onLeaderChange((isLeader) => void changes.push(isLeader))
    const { signal } = a.ownership.held.get('s1') ?? {}
    const closed = a.close()
    expect(a.close()).toBe(closed)
    await closed
    expect([changes, signal?.reason.code]).toEqual([[false], 'claim_released'])
    await campaign
    expect((await b.ownership.claim(['s1', 's2'])).claimed).toHaveLength(2)
    await b.close()
    await until(async () => (await backends()).length === 0, { what: 'all connections to end' })
    for (const call of [a.elector.tryAcquire(), a.ownership.claim(['s1']), a.transport.publish('t', {})])
      await expect(call).rejects.toMatchObject({ code: 'closed' })
  })

  it('can be closed without having been used, and when the server is out of reach', async () => {
    await newCoordination('unused').close()
    const unreachable = newCoordination('nowhere', { connection: 'postgresql://127.0.0.1:1/x' })
    await expect(unreachable.elector.tryAcquire()).rejects.toMatchObject({ code: 'unreachable' })
    await expect(unreachable.transport.connect()).rejects.toMatchObject({ code: 'unreachable' })
    await unreachable.close()
  })

  it('keeps namespaces apart', async () => {
    await using a = newCoordination('a', { namespace: 'one' })
    await using b = newCoordination('b', { namespace: 'two' })
    expect([await a.elector.tryAcquire(), await b.elector.tryAcquire()]).toEqual([true, true])
    expect((await Promise.all([a.ownership.claim(['s1']), b.ownership.claim(['s1'])])).map(({ claimed }) => claimed.length)).toEqual([1, 1])
  })

  it('passes the options on, and refuses those that make no sense', () => {
    expect(() => newCoordination('a', { maxClaims: 0 })).toThrow(/^maxClaims must be/)
    expect(() => newCoordination('a', { healthCheckSeconds: -1 })).toThrow(/^healthCheckSeconds must be/)
    expect(() => newCoordination('a', { election: '' })).toThrow(/^election must be/)
    expect(() => newCoordination('a', { leaseSeconds: 0 })).toThrow(/^leaseSeconds must be/)
    expect(() => newCoordination('')).toThrow(/^identity must be/)
  })
})
