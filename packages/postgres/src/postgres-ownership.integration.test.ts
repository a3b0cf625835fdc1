import { FaultProxy, until } from '@es/coordination-testing'
import { createDatabase, startTestServer, type TestDatabase } from '@es/test-server'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { deriveLockKey } from './lock-key.js'
import { PostgresLeaderElector } from './postgres-leader-elector.js'
import { PostgresLockSession } from './postgres-lock-session.js'
import { PostgresOwnership } from './postgres-ownership.js'
import type { ClaimOptions } from './postgres-ownership-options.js'
import { TRY_LOCK } from './statements.js'

const SILENT = { debug() {}, info() {}, warn() {}, error() {} }
// The server has just been started, and nothing is locked before it has been up for one lease.
const LEASE = { leaseSeconds: 1.5, renewDeadlineSeconds: 1, requestTimeoutSeconds: 1, logger: SILENT }

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

function newOwnership(identity: string, options: ClaimOptions & { connection?: string } = {}): PostgresOwnership {
  return new PostgresOwnership({ connection: database.url, ...LEASE, ...options, identity })
}

const subscriptions = (count: number, from = 0): string[] => Array.from({ length: count }, (_, index) => `s${from + index}`)

/** The keys that are locked in this database, with the pids that hold them. */
async function locked(): Promise<Map<string, number[]>> {
  const { rows } = await admin.query<{ key: string; pids: number[] }>(
    `SELECT ((classid::bigint << 32) | objid::bigint)::text AS key, array_agg(pid) AS pids FROM pg_locks
      WHERE locktype = 'advisory' AND granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) GROUP BY 1`,
  )
  return new Map(rows.map(({ key, pids }) => [key, pids]))
}

async function backendsOf(identity: string): Promise<number[]> {
  const { rows } = await admin.query<{ pid: number }>(
    'SELECT pid FROM pg_stat_activity WHERE application_name = $1 AND datname = current_database()',
    [identity],
  )
  return rows.map(({ pid }) => pid)
}

async function terminate(identity: string): Promise<void> {
  await admin.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1 AND datname = current_database()', [
    identity,
  ])
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN

describe('claims of two instances', () => {
  it('have exactly one holder each when overlapping batches race, round after round, as pg_locks shows', async () => {
    await using a = newOwnership('race-a', { namespace: 'race' })
    await using b = newOwnership('race-b', { namespace: 'race' })
    const [forA, forB] = [subscriptions(200), subscriptions(200, 100)]
    const tokens = new Map<string, bigint>()
    const wins = { a: 0, b: 0 }
    for (let round = 0; round < 25; round++) {
      const [ofA, ofB] = await Promise.all([a.claim(forA), b.claim(forB)])
      const held = [...ofA.claimed, ...ofB.claimed]
      expect(new Set(held.map(({ subscription }) => subscription)).size).toBe(300)
      expect(held).toHaveLength(300)
      for (const { subscription, fencingToken } of held) {
        expect(fencingToken).toBeGreaterThan(tokens.get(subscription) ?? 0n)
        tokens.set(subscription, fencingToken)
      }
      const locks = await locked()
      const [[pidOfA], [pidOfB]] = [await backendsOf('race-a'), await backendsOf('race-b')]
      for (const { subscription } of ofA.claimed) expect(locks.get(deriveLockKey('claim/race', subscription))).toEqual([pidOfA])
      for (const { subscription } of ofB.claimed) expect(locks.get(deriveLockKey('claim/race', subscription))).toEqual([pidOfB])
      for (const { holder } of ofA.denied) expect(holder?.instanceId ?? 'race-b').toBe('race-b')
      wins.a += ofA.claimed.length - 100
      wins.b += ofB.claimed.length - 100
      await Promise.all([a.release(forA), b.release(forB)])
      expect((await locked()).size).toBe(0)
    }
    expect(wins.a + wins.b).toBe(25 * 100)
  })

  it('are seen by observe, with identity and backend pid of the holder, whoever asks', async () => {
    const longName = `${'pod-'.repeat(30)}Ä`
    await using a = newOwnership('näme of a', { namespace: 'observe' })
    await using b = newOwnership(longName, { namespace: 'observe' })
    await a.claim(['s1', 's2'])
    await b.claim(['s3'])
    const foreign = deriveLockKey('claim/observe', 's4')
    await admin.query('SELECT pg_advisory_lock($1::bigint)', [foreign])
    const seen = await a.observe(['s4', 's1', 's2', 's3', 's5'])
    expect([...seen].map(([subscription, { instanceId }]) => [subscription, instanceId])).toEqual([
      ['s4', ''],
      ['s1', 'näme of a'],
      ['s2', 'näme of a'],
      ['s3', longName.slice(0, 63)],
    ])
    expect(seen.get('s1')?.detail).toMatch(/^backend pid \d+, connected since \d{4}-.*Z$/)
    expect((await b.observe(['s3'])).get('s3')?.instanceId).toBe(longName)
    expect((await a.claim(['s4'])).denied).toEqual([{ subscription: 's4', holder: expect.objectContaining({ instanceId: '' }) }])
    await admin.query('SELECT pg_advisory_unlock($1::bigint)', [foreign])
  })

  it('are seen by a role without any privilege, its own and those of others', async () => {
    await using a = newOwnership('of a superuser', { namespace: 'role' })
    const role = `role_${database.name}`
    await admin.query(`CREATE ROLE ${role} LOGIN PASSWORD 'secret'`)
    const url = new URL(database.url)
    url.username = role
    url.password = 'secret'
    await using b = newOwnership('of nobody special', { namespace: 'role', connection: url.href })
    await a.claim(['s1'])
    expect((await b.claim(['s1', 's2'])).denied).toEqual([
      { subscription: 's1', holder: expect.objectContaining({ instanceId: 'of a superuser' }) },
    ])
    expect([...(await b.observe(['s2', 's1'])).values()].map(({ instanceId }) => instanceId)).toEqual([
      'of nobody special',
      'of a superuser',
    ])
    await b.close()
    await admin.query(`DROP ROLE ${role}`)
  })

  it('pass from one to the other as soon as they are released, and when the holder closes', async () => {
    await using a = newOwnership('pass-a', { namespace: 'pass' })
    await using b = newOwnership('pass-b', { namespace: 'pass' })
    await a.claim(['s1', 's2'])
    expect((await b.claim(['s1', 's2'])).claimed).toEqual([])
    await a.release(['s1'])
    expect((await b.claim(['s1', 's2'])).claimed).toHaveLength(1)
    await a.close()
    await until(async () => (await b.claim(['s2'])).claimed.length === 1, {
      what: 'the locks of a closed instance to be free',
      withinSeconds: 1,
    })
    expect(await backendsOf('pass-a')).toEqual([])
  })
})

describe('the loss of the session', () => {
  it('aborts all signals at once, and what is claimed again has larger tokens', async () => {
    await using ownership = newOwnership('terminated', { namespace: 'terminated' })
    const { claimed } = await ownership.claim(subscriptions(100))
    const reasons: string[] = []
    for (const { signal } of claimed) signal.addEventListener('abort', () => reasons.push(signal.reason.code))
    await terminate('terminated')
    await until(() => reasons.length > 0, { what: 'the loss' })
    expect(reasons).toEqual(Array.from({ length: 100 }, () => 'claim_lost'))
    expect([ownership.held.size, claimed.some(({ isHeld }) => isHeld)]).toEqual([0, false])
    const again = await ownership.claim(subscriptions(100))
    expect(again.claimed).toHaveLength(100)
    expect(again.claimed[0]?.fencingToken).toBeGreaterThan(claimed[0]?.fencingToken ?? 0n)
  })

  it('shows by the renew deadline in a black hole, and the rival claims after the lease', async () => {
    const { port } = new URL(database.url)
    await using proxy = await FaultProxy.start({ port: Number(port) })
    const through = new URL(database.url)
    through.port = String(proxy.port)
    await using ownership = newOwnership('cut-off', { namespace: 'cut', connection: through.href })
    await using rival = newOwnership('rival', { namespace: 'cut' })
    const { claimed } = await ownership.claim(['s1', 's2'])
    const [claim] = claimed
    await rival.observe(['s1'])
    const cutAt = performance.now()
    proxy.blackhole()
    await until(() => claim?.signal.aborted, { what: 'the claims to be given up' })
    const gaveUpAfter = (performance.now() - cutAt) / 1000
    expect((await rival.claim(['s1', 's2'])).claimed).toEqual([])
    await until(async () => (await rival.claim(['s1', 's2'])).claimed.length === 2, { what: 'the rival to claim' })
    const takenAfter = (performance.now() - cutAt) / 1000
    // The trust dates from the last renewal, which is up to a third of the lease old.
    expect(gaveUpAfter).toBeLessThan(1.1)
    expect(takenAfter).toBeGreaterThan(gaveUpAfter)
    expect(takenAfter).toBeLessThan(2.2)
    expect(claimed.map(({ signal }) => signal.reason.code)).toEqual(['claim_lost', 'claim_lost'])
  })
})

describe('an elector and an ownership on one session', () => {
  it('use one backend, keep their locks apart, and lose them together', async () => {
    await using session = new PostgresLockSession({ identity: 'shared', connection: database.url, ...LEASE })
    const elector = new PostgresLeaderElector({ session, election: 'e' })
    const ownership = new PostgresOwnership({ session })
    expect(await elector.tryAcquire()).toBe(true)
    const [claim] = (await ownership.claim(['s1', 's2'])).claimed
    expect(await backendsOf('shared')).toHaveLength(1)
    await elector.release()
    expect([claim?.isHeld, elector.isLeader, ownership.held.size]).toEqual([true, false, 2])
    expect(await session.locks.renew()).toBe(true)
    await elector.tryAcquire()
    await ownership.release(['s1'])
    expect([elector.isLeader, ownership.held.size]).toEqual([true, 1])
    expect(await session.locks.renew()).toBe(true)
    const changes: boolean[] = []
    elector.onLeaderChange((isLeader) => void changes.push(isLeader))
    await terminate('shared')
    await until(() => changes.length > 0, { what: 'the loss' })
    expect([changes, elector.isLeader, ownership.held.size]).toEqual([[false], false, 0])
    expect((await ownership.claim(['s1'])).claimed).toHaveLength(1)
    expect(await elector.tryAcquire()).toBe(true)
    await ownership.close()
    expect(elector.isLeader).toBe(true)
    await elector.close()
    expect(await backendsOf('shared')).toHaveLength(1)
    expect((await locked()).size).toBe(0)
  })
})

describe('the lock table', () => {
  it('is never filled: a batch beyond the share is refused, names the numbers, costs nothing, and queries of others go on', async () => {
    await using server = await startTestServer({ settings: { max_connections: 20, max_locks_per_transaction: 10 } })
    const other = new pg.Client(server.url)
    await other.connect()
    const session = new PostgresLockSession({ identity: 'a', connection: server.url, ...LEASE })
    await using ownership = new PostgresOwnership({ session })
    await until(async () => (await ownership.claim(['s0'])).claimed.length === 1, {
      what: 'the server to be older than a lease',
      everySeconds: 0.1,
    })
    const [claim] = ownership.held.values()
    await expect(ownership.claim(subscriptions(150))).rejects.toMatchObject({
      code: 'too_many_claims',
      message: expect.stringMatching(
        / 1 of about 200 entries \(max_locks_per_transaction = 10\) are taken, and 149 more .*share of 0\.5.*maxLockTableShare/,
      ),
    })
    expect([claim?.isHeld, ownership.held.size]).toEqual([true, 1])
    expect((await ownership.claim(subscriptions(90))).claimed).toHaveLength(90)
    await expect(ownership.claim(subscriptions(30, 90))).rejects.toMatchObject({ code: 'too_many_claims' })
    await other.query(
      'CREATE TABLE t (a int PRIMARY KEY, b int UNIQUE); INSERT INTO t SELECT n, n FROM generate_series(1, 100) AS n; DROP TABLE t',
    )
    const { rows } = await other.query(`SELECT count(*)::int AS locks FROM pg_locks WHERE locktype = 'advisory'`)
    expect(rows).toEqual([{ locks: 90 }])
    expect(await session.locks.renew()).toBe(true)
    await session.close()
    await other.end()
  })

  it('may even run over, which costs the batch only: what the failed statement had locked is unlocked, and nothing else', async () => {
    await using server = await startTestServer({ settings: { max_connections: 20, max_locks_per_transaction: 10 } })
    const other = new pg.Client(server.url)
    await other.connect()
    const session = new PostgresLockSession({ identity: 'a', connection: server.url, ...LEASE })
    const ownership = new PostgresOwnership({ session })
    await until(async () => (await ownership.claim(['s1', 's2'])).claimed.length === 2, {
      what: 'the server to be older than a lease',
      everySeconds: 0.1,
    })
    const keys = Array.from({ length: 20_000 }, (_, index) => String(index + 1))
    // Not asked to look at the table, as an elector does not.
    await expect(session.locks.tryLock(keys)).rejects.toMatchObject({ code: 'lock_table_full', cause: { code: '53200' } })
    const { rows } = await other.query(`SELECT count(*)::int AS locks FROM pg_locks WHERE locktype = 'advisory'`)
    expect([rows, ownership.held.size, await session.locks.renew()]).toEqual([[{ locks: 2 }], 2, true])
    await other.query('CREATE TABLE t (a int PRIMARY KEY); DROP TABLE t')
    await session.close()
    await other.end()
  })

  it('may be filled by others: claims are renewed and observed all the same, and no more are made', async () => {
    await using server = await startTestServer({ settings: { max_connections: 20, max_locks_per_transaction: 10 } })
    const other = new pg.Client(server.url)
    await other.connect()
    const session = new PostgresLockSession({ identity: 'a', connection: server.url, ...LEASE })
    const ownership = new PostgresOwnership({ session })
    await until(async () => (await ownership.claim(['s1', 's2'])).claimed.length === 2, {
      what: 'the server to be older than a lease',
      everySeconds: 0.1,
    })
    await expect(other.query('SELECT pg_advisory_lock(n) FROM generate_series(1, 20000) AS n')).rejects.toMatchObject({ code: '53200' })
    expect(await session.locks.renew()).toBe(true)
    expect((await ownership.observe(['s1', 's3'])).get('s1')?.instanceId).toBe('a')
    await expect(ownership.claim(['s3'])).rejects.toMatchObject({ code: 'too_many_claims' })
    await expect(session.locks.tryLock(['-7'])).rejects.toMatchObject({ code: 'lock_table_full' })
    await ownership.release(['s2'])
    expect([[...ownership.held.keys()], await session.locks.renew()]).toEqual([['s1'], true])
    await session.close()
    await other.end()
  })
})

describe('a large batch', () => {
  it('of 1,000 claims costs little more than its bare statement', async () => {
    await using ownership = newOwnership('large', { namespace: 'large' })
    const names = subscriptions(1000)
    const keys = names.map((name) => deriveLockKey('claim/raw', name))
    const raw = new pg.Client(database.url)
    await raw.connect()
    const ours: number[] = []
    const bare: number[] = []
    for (let round = 0; round < 60; round++) {
      let startedAt = performance.now()
      const { claimed } = await ownership.claim(names)
      ours.push(performance.now() - startedAt)
      expect(claimed).toHaveLength(1000)
      await ownership.release(names)
      startedAt = performance.now()
      await raw.query({ ...TRY_LOCK, values: [keys] })
      bare.push(performance.now() - startedAt)
      await raw.query('SELECT pg_advisory_unlock_all()')
    }
    await raw.end()
    const [first] = ours
    // biome-ignore lint/suspicious/noConsole: the figure is the point of the test.
    console.log(
      `1,000 claims: ${median(ours).toFixed(2)} ms (first ${first?.toFixed(2)} ms), bare statement ${median(bare).toFixed(2)} ms, ratio ${(median(ours) / median(bare)).toFixed(2)}`,
    )
    // The target is 1.5, which bench/ holds; here only what a busy machine cannot explain.
    expect(median(ours) / median(bare)).toBeLessThan(4)
  })
})
