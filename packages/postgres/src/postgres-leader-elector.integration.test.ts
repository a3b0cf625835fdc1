import { until } from '@es/coordination-testing'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest'
import { deriveLockKey } from './lock-key.js'
import { connect, LEASE_SECONDS, TestElection } from './test-election.test.harness.js'

let election: TestElection

beforeAll(async () => {
  election = await TestElection.on(inject('databaseUrl'))
})

afterEach(async () => {
  await Promise.all(election.electors.splice(0).map((elector) => elector.close()))
  await until(async () => (await election.leftovers()).sessions === 0, {
    what: 'the sessions of the last test to be gone',
    withinSeconds: 10,
  })
})

afterAll(() => election?.[Symbol.asyncDispose]())

const KEY = deriveLockKey('leader/default', 'e')

describe('the lock of a leader', () => {
  it('is one row through three acquisitions and twenty renewals, gone after one release, and then free for the rival (P2)', async () => {
    const a = election.join('a')
    const b = election.join('b')
    for (let round = 0; round < 3; round++) expect(await a.tryAcquire()).toBe(true)
    for (let round = 0; round < 20; round++) {
      expect(await a.renew()).toBe(true)
      expect((await election.leftovers()).locks).toBe(1)
    }
    expect(await b.tryAcquire()).toBe(false)
    await a.release()
    expect((await election.leftovers()).locks).toBe(0)
    expect(await b.tryAcquire()).toBe(true)
    expect(await a.tryAcquire()).toBe(false)
  })

  it('is one row through campaigns, too (P2)', async () => {
    const a = election.join('a')
    for (let round = 0; round < 10; round++) {
      await Promise.all([a.campaign(), a.campaign(), a.tryAcquire()])
      expect((await election.leftovers()).locks).toBe(1)
      await a.release()
      expect((await election.leftovers()).locks).toBe(0)
    }
  })

  it('is seen by a bystander in pg_locks under its published key, who cannot lock it (P5)', async () => {
    await election.join('a').tryAcquire()
    expect(await election.locks()).toEqual([{ key: KEY, name: 'a' }])
    expect(await election.query('SELECT pg_try_advisory_lock($1::bigint) AS won', [KEY])).toEqual([{ won: false }])
  })

  it('works with keys of either sign beyond what a JavaScript number holds, without rounding (P10)', async () => {
    const names = Array.from({ length: 8 }, (_, index) => `sign ${index}`)
    const keys = names.map((name) => deriveLockKey('leader/default', name))
    expect(keys.some((key) => BigInt(key) > 2n ** 53n) && keys.some((key) => BigInt(key) < -(2n ** 53n))).toBe(true)
    for (const [index, name] of names.entries()) {
      const a = election.join('a', { election: name })
      const b = election.join('b', { election: name })
      expect(await a.tryAcquire()).toBe(true)
      expect(await election.locks()).toEqual([{ key: keys[index], name: 'a' }])
      expect([await b.tryAcquire(), b.currentLeader]).toEqual([false, 'a'])
      await a.release()
      expect(await b.tryAcquire()).toBe(true)
      await Promise.all([a.close(), b.close()])
    }
  })

  it('is not disturbed by a pool whose connections the server or the pool recycles: settings for a pool are only an address (P6)', async () => {
    const config = { connectionString: election.url, max: 1, maxLifetimeSeconds: 1, idleTimeoutMillis: 100, maxUses: 3 }
    const a = election.join('a', { connection: config })
    const changes: boolean[] = []
    a.onLeaderChange((isLeader) => void changes.push(isLeader))
    await a.tryAcquire()
    const token = a.fencingToken
    const startedAt = performance.now()
    await until(() => performance.now() - startedAt > 2.5 * LEASE_SECONDS * 1000, {
      what: 'two and a half leases to pass',
      withinSeconds: 10,
    })
    expect([a.fencingToken, changes]).toEqual([token, [true]])
  })
})

describe('the work of a leader', () => {
  it('may use a pool of one connection from inside the leader callback: the elector takes none of it (P7a)', async () => {
    const pool = new pg.Pool({ connectionString: election.url, max: 1 })
    try {
      const a = election.join('a')
      const rows: unknown[] = []
      a.onLeaderChange(async (isLeader) => {
        if (isLeader) rows.push(...(await pool.query('SELECT 1 AS one')).rows)
      })
      await a.tryAcquire()
      expect(rows).toEqual([{ one: 1 }])
    } finally {
      // Its sessions end a moment later: afterEach waits for that.
      await pool.end()
    }
  })
})

describe('what a closed elector leaves behind', () => {
  it('is no session and no lock, fifty times (P13)', async () => {
    for (let round = 0; round < 50; round++) {
      const elector = election.join(`round ${round}`)
      expect(await elector.tryAcquire()).toBe(true)
      await elector.close()
      await until(
        async () => {
          const { sessions, locks } = await election.leftovers()
          return sessions + locks === 0
        },
        { what: `nothing to be left after round ${round}` },
      )
    }
  })

  it('is no session either when it was closed while it connected, asked, waited or released (P13)', async () => {
    const holder = election.join('holder')
    await holder.tryAcquire()
    for (let round = 0; round < 40; round++) {
      // A lease so long that the server does not clean up in time what the client left.
      const elector = election.join('brief', { leaseSeconds: 4 })
      const calls = [elector.campaign(), elector.tryAcquire(), elector.release()]
      const ticks = round * 3
      for (let tick = 0; tick < ticks; tick++) await new Promise((resolve) => setImmediate(resolve))
      await elector.close()
      await Promise.allSettled(calls)
    }
    await until(async () => (await election.leftovers()).sessions === 1, { what: 'only the holder to be left', withinSeconds: 2 })
    expect(holder.isLeader).toBe(true)
  })
})

describe('a follower', () => {
  it('learns who leads from the server, also when that is not one of ours, with its process and name (O1)', async () => {
    const psql = await connect({ connectionString: election.url, application_name: 'psql' })
    const [{ pid } = { pid: 0 }] = (await psql.query('SELECT pg_backend_pid() AS pid')).rows as { pid: number }[]
    await psql.query('SELECT pg_advisory_lock($1::bigint)', [KEY])
    const b = election.join('b')
    expect(await b.tryAcquire()).toBe(false)
    expect(b.currentLeader).toBe('psql')
    const report = election.logger.lines.find(({ message }) => message === 'psql leads')
    expect(report?.fields).toMatchObject({ backendPid: pid, connectedAt: expect.any(Date) })
    await psql.end()
  })

  it('sees a long or a strange identity as far as an application_name carries it', async () => {
    await election.join('instance-'.repeat(20)).tryAcquire()
    const b = election.join('b')
    await b.tryAcquire()
    expect(b.currentLeader).toBe('instance-'.repeat(20).slice(0, 63))
    await election.electors[0]?.close()
    const strange = '日本 "\';--%🦀'
    await election.join(strange).tryAcquire()
    await b.tryAcquire()
    expect(b.currentLeader).toBe(strange)
  })

  it('that waits in line holds back VACUUM for no longer than one slice at a time', async () => {
    await election.join('a').tryAcquire()
    const b = election.join('b')
    const campaign = b.campaign().catch(() => {})
    await election.waitForWaiter('b')
    const waiting = async () =>
      (
        await election.query<{ pid: number; xmin: string | null }>(
          `SELECT pid, backend_xmin::text AS xmin FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'b'`,
        )
      )[0]
    const first = await until(async () => ((await waiting())?.xmin ? await waiting() : null), {
      what: 'the waiting session to hold a snapshot',
    })
    await until(
      async () => {
        await election.query('SELECT pg_current_xact_id()')
        return (await waiting())?.xmin !== first.xmin
      },
      // Several slices, and less than the time after which the statement as such would be ended.
      { what: 'the snapshot to be let go', withinSeconds: 2 },
    )
    expect((await waiting())?.pid).toBe(first.pid)
    await b.close()
    await campaign
  })
})

describe('a role without privileges', () => {
  const ROLE = `plain_${process.pid}_${Date.now() % 1e6}`
  let plainUrl: string

  beforeAll(async () => {
    await election.query(`CREATE ROLE ${ROLE} LOGIN PASSWORD 'plain'`)
    const url = new URL(election.url)
    url.username = ROLE
    url.password = 'plain'
    plainUrl = url.href
  })

  afterAll(async () => {
    await until(async () => (await election.leftovers()).sessions === 0, { what: 'its sessions to be gone' })
    await election.query(`DROP OWNED BY ${ROLE}`)
    await election.query(`DROP ROLE ${ROLE}`)
  })

  it('can lead, is refused, sees who leads, and wins a campaign', async () => {
    const a = election.join('a')
    const b = election.join('b', { connection: plainUrl })
    expect(await a.tryAcquire()).toBe(true)
    expect([await b.tryAcquire(), b.currentLeader]).toEqual([false, 'a'])
    const campaign = b.campaign()
    await election.waitForWaiter('b')
    await a.release()
    await campaign
    expect(await b.renew()).toBe(true)
    expect([await a.tryAcquire(), a.currentLeader]).toEqual([false, 'b'])
  })

  it('leads whatever its defaults are: short timeouts, read-only and serializable transactions, asynchronous commits', async () => {
    const defaults = {
      statement_timeout: '150ms',
      lock_timeout: '20ms',
      idle_in_transaction_session_timeout: '50ms',
      idle_session_timeout: '0',
      transaction_timeout: '200ms',
      default_transaction_read_only: 'on',
      default_transaction_isolation: 'serializable',
      synchronous_commit: 'off',
      search_path: '',
      timezone: 'Asia/Kolkata',
      intervalstyle: 'iso_8601',
      extra_float_digits: '-15',
    }
    const [version] = await election.query<{ number: number }>(`SELECT current_setting('server_version_num')::int AS number`)
    for (const [name, value] of Object.entries(defaults)) {
      if (name === 'transaction_timeout' && (version?.number ?? 0) < 170_000) continue
      await election.query(`ALTER ROLE ${ROLE} SET ${name} = '${value}'`)
    }
    const a = election.join('a')
    await a.tryAcquire()
    const b = election.join('b', { connection: plainUrl, waitSliceSeconds: 0.6 })
    const campaign = b.campaign()
    void campaign.catch(() => {})
    await election.waitForWaiter('b')
    const [before] = await election.query<{ pid: number }>(
      `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'b'`,
    )
    const startedAt = performance.now()
    await until(() => performance.now() - startedAt > 1500, { what: 'a few slices to pass' })
    expect(await election.query(`SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'b'`)).toEqual([
      before,
    ])
    await a.release()
    await campaign
    expect(await b.renew()).toBe(true)
  })
})
