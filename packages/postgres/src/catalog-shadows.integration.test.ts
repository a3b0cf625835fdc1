import { until } from '@es/coordination-testing'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { HAS_PGBOUNCER, PgBouncer, WITHOUT_PGBOUNCER } from './pgbouncer.test.harness.js'
import { PostgresTransport } from './postgres-transport.js'
import { TestElection } from './test-election.test.harness.js'

const ROLE = `shadowed_${process.pid}`

let election: TestElection
let url: string

/** A role for which a schema of somebody else's comes before that of the server, with what the sessions use in it. */
beforeAll(async () => {
  election = await TestElection.on(inject('databaseUrl'))
  await election.query(`CREATE ROLE ${ROLE} LOGIN PASSWORD 'shadowed'`)
  await election.query('CREATE SCHEMA shadow')
  await election.query(`CREATE FUNCTION shadow.pg_try_advisory_lock(bigint) RETURNS boolean LANGUAGE sql AS 'SELECT true'`)
  await election.query(`CREATE FUNCTION shadow.pg_advisory_lock(bigint) RETURNS void LANGUAGE sql AS 'SELECT'`)
  await election.query(`CREATE FUNCTION shadow.pg_is_in_recovery() RETURNS boolean LANGUAGE sql AS 'SELECT true'`)
  await election.query(`CREATE FUNCTION shadow.pg_notify(text, text) RETURNS void LANGUAGE sql AS 'SELECT'`)
  await election.query(`CREATE FUNCTION shadow.set_config(text, text, boolean) RETURNS text LANGUAGE sql AS 'SELECT $2'`)
  await election.query('CREATE VIEW shadow.pg_locks AS SELECT * FROM pg_catalog.pg_locks WHERE false')
  await election.query(`GRANT USAGE ON SCHEMA shadow TO ${ROLE}`)
  await election.query(`GRANT SELECT ON shadow.pg_locks TO ${ROLE}`)
  await election.query(`ALTER ROLE ${ROLE} SET search_path = shadow, pg_catalog`)
  const address = new URL(election.url)
  address.username = ROLE
  address.password = 'shadowed'
  url = address.href
})

afterAll(async () => {
  await election?.[Symbol.asyncDispose]()
})

async function expectTruth(connection: string | { connectionString: string; options: string }, pooler: 'none' | 'session'): Promise<void> {
  const [a, b] = [election.join('a', { connection, pooler }), election.join('b', { connection, pooler })]
  expect([await a.tryAcquire(), await b.tryAcquire()]).toEqual([true, false])
  expect([await a.renew(), b.currentLeader]).toEqual([true, 'a'])
  expect((await election.locks()).map(({ name }) => name)).toEqual(['a'])
  const campaign = b.campaign()
  await a.close()
  await campaign
  expect((await election.locks()).map(({ name }) => name)).toEqual(['b'])
  await b.close()
  await using transport = new PostgresTransport({ connection, pooler, logger: election.logger })
  const heard: unknown[] = []
  await transport.subscribe('t', (message) => heard.push(message))
  await transport.publish('t', { n: 1 })
  await until(() => heard.length === 1, { what: 'the message' })
}

describe('functions and tables that stand before those of the server do not fool a session', () => {
  it('by default of the role', () => expectTruth(url, 'none'))

  it('by options of the connection', () =>
    expectTruth({ connectionString: election.url, options: '-c search_path=shadow,pg_catalog' }, 'none'))

  it.skipIf(!HAS_PGBOUNCER)(`through a pooler${WITHOUT_PGBOUNCER}`, async () => {
    await using pooler = await PgBouncer.start(url, { pool_mode: 'session' })
    await expectTruth(pooler.url, 'session')
  })
})
