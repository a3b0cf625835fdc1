import { until } from '@es/coordination-testing'
import { startTestServer, type TestServer } from '@es/test-server'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { conflictsOf, ElectorProcess, machineSeconds } from './elector-process.test.harness.js'
import { PostgresLeaderElector } from './postgres-leader-elector.js'
import { connect, LEASE_SECONDS, WAIT_SLICE_SECONDS } from './test-election.test.harness.js'

const PLAIN_ROLE = 'plain'

let server: TestServer
let plainUrl: string
const children: ElectorProcess[] = []

beforeAll(async () => {
  server = await startTestServer()
  await ask(`CREATE ROLE ${PLAIN_ROLE} LOGIN PASSWORD 'plain'`)
  const url = new URL(server.url)
  url.username = PLAIN_ROLE
  url.password = 'plain'
  plainUrl = url.href
})

beforeEach(() => serverOlderThan(LEASE_SECONDS))

afterEach(async () => {
  const conflicts = conflictsOf(children)
  const alarms = children.flatMap((child) => child.alarms)
  await Promise.all(children.splice(0).map((child) => child[Symbol.asyncDispose]()))
  expect({ conflicts, alarms }).toEqual({ conflicts: [], alarms: [] })
})

afterAll(() => server?.stop())

async function ask<Row = Record<string, unknown>>(sql: string): Promise<Row[]> {
  const client = await connect(server.url)
  try {
    return (await client.query(sql)).rows as Row[]
  } finally {
    await client.end()
  }
}

/** Seconds since all locks were lost: since the start of the server, or since it recovered from the crash of a backend. */
const AGE = `extract(epoch FROM clock_timestamp() - greatest(pg_postmaster_start_time(), (SELECT max(backend_start) FROM pg_stat_activity WHERE backend_type = 'checkpointer')))::float8`

async function serverOlderThan(seconds: number): Promise<void> {
  await until(async () => ((await ask<{ age: number }>(`SELECT ${AGE} AS age`))[0]?.age ?? 0) > seconds, {
    what: 'the server to be older than the lease',
    withinSeconds: 30,
  })
}

/** When the server lost its locks, on the machine's monotonic clock; never too late. */
async function lostLocksAt(): Promise<number> {
  const askedAt = machineSeconds()
  const [{ age } = { age: Number.NaN }] = await until(() => ask<{ age: number }>(`SELECT ${AGE} AS age`), {
    what: 'the server',
    withinSeconds: 30,
  })
  return askedAt - age
}

function start(identity: string, connection = server.url): ElectorProcess {
  const child = new ElectorProcess({
    identity,
    connection,
    leaseSeconds: LEASE_SECONDS,
    waitSliceSeconds: WAIT_SLICE_SECONDS,
    requestTimeoutSeconds: 2,
    longestRetrySeconds: 0.5,
  })
  children.push(child)
  return child
}

const leading = (child: ElectorProcess) =>
  until(() => child.leads, { what: `${child.identity} to lead`, withinSeconds: 20, everySeconds: 0.002 })

async function pair(connection?: string): Promise<[leader: ElectorProcess, rival: ElectorProcess]> {
  const leader = start('leader', connection)
  await leading(leader)
  const rival = start('rival', connection)
  await until(
    async () => (await ask(`SELECT FROM pg_stat_activity WHERE application_name = 'rival' AND wait_event_type = 'Lock'`)).length > 0,
    {
      what: 'the rival to wait in line',
      withinSeconds: 15,
    },
  )
  return [leader, rival]
}

/** When somebody first led with another token than those before. */
async function nextTermAt(earlier: ReadonlySet<string | undefined>): Promise<number> {
  const find = () => children.flatMap((child) => child.of('lead')).find(({ token }) => !earlier.has(token))
  return (await until(find, { what: 'the next leader', withinSeconds: 20 })).at
}

const tokensSoFar = (): Set<string | undefined> => new Set(children.flatMap((child) => child.of('lead').map(({ token }) => token)))

describe('when the server restarts', () => {
  it.each(['fast', 'immediate'] as const)(
    '(%s) both processes survive, one callback(false), and somebody leads after one lease, not before (P8, L5)',
    async (mode) => {
      const [leader, rival] = await pair()
      const earlier = tokensSoFar()
      await server.restart(mode)
      const startedAt = await lostLocksAt()
      const nextAt = await nextTermAt(earlier)
      process.stdout.write(
        `takeover after a ${mode} restart: ${(nextAt - startedAt).toFixed(2)} s after its start (lease ${LEASE_SECONDS} s)\n`,
      )
      expect(nextAt - startedAt).toBeGreaterThanOrEqual(LEASE_SECONDS)
      expect(nextAt - startedAt).toBeLessThan(LEASE_SECONDS + WAIT_SLICE_SECONDS + 0.5 + 2)
      expect(leader.of('told').filter(({ isLeader }) => !isLeader)).toHaveLength(1)
      expect([leader.process.exitCode, rival.process.exitCode]).toEqual([null, null])
    },
  )

  it.each(['fast', 'immediate'] as const)(
    '(%s) while its leader is stopped, nobody leads before that leader has lost its trust (L5)',
    async (mode) => {
      const [leader, rival] = await pair()
      const earlier = tokensSoFar()
      // Stopped right after a renewal, and woken just when a server without a memory of it could have given the lock away.
      leader.signal('SIGSTOP')
      await server.restart(mode)
      const startedAt = await lostLocksAt()
      await until(() => machineSeconds() - startedAt > 0.2, { what: 'a moment' })
      leader.signal('SIGCONT')
      const nextAt = await nextTermAt(earlier)
      expect(nextAt - startedAt).toBeGreaterThanOrEqual(LEASE_SECONDS)
      expect(leader.leads !== rival.leads).toBe(true)
    },
  )

  it('is down for a while, the candidates come back by themselves', async () => {
    const [leader, rival] = await pair()
    await server.halt('fast')
    await until(() => !leader.leads, { what: 'the leader to notice' })
    const downAt = machineSeconds()
    await until(() => machineSeconds() - downAt > 2, { what: 'two seconds of outage' })
    await server.resume()
    await until(() => leader.leads || rival.leads, { what: 'a leader', withinSeconds: 20 })
    for (const child of children) {
      expect(child.of('log').filter(({ level }) => level === 'warn' || level === 'error').length).toBeLessThanOrEqual(5)
    }
  })

  it('took a token with it in a crash, the next term still has a larger one', async () => {
    // A token that was handed out right before the crash: its transaction did nothing but take an id, which a commit need not keep.
    for (let round = 0; round < 3; round++) {
      await serverOlderThan(LEASE_SECONDS)
      const elector = new PostgresLeaderElector({
        identity: 'a',
        election: 'e',
        connection: server.url,
        leaseSeconds: LEASE_SECONDS,
        longestRetrySeconds: 0.5,
        logger: SILENT,
      })
      if (round === 0) await elector.campaign()
      else expect(await elector.tryAcquire()).toBe(true)
      const token = elector.fencingToken ?? 0n
      await server.halt('immediate')
      await server.resume()
      await elector.campaign()
      expect(elector.fencingToken).toBeGreaterThan(token)
      await elector.close()
    }
  })
})

describe('when one backend crashes, the server ends all sessions and forgets all locks without restarting', () => {
  it.each([
    ['a superuser', () => server.url],
    ['an unprivileged role', () => plainUrl],
  ])('%s leads again after one lease, not before (L5)', async (_who, url) => {
    const [leader] = await pair(url())
    const earlier = tokensSoFar()
    const victim = await connect(server.url)
    const { rows } = await victim.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
    leader.signal('SIGSTOP')
    const crashedAt = machineSeconds()
    process.kill(rows[0]?.pid ?? 0, 'SIGKILL')
    const lostAt = await until(
      async () => {
        const at = await lostLocksAt()
        return at > crashedAt - 0.2 ? at : null
      },
      { what: 'the recovery', withinSeconds: 20 },
    )
    leader.signal('SIGCONT')
    const nextAt = await nextTermAt(earlier)
    expect(nextAt - lostAt).toBeGreaterThanOrEqual(LEASE_SECONDS)
    expect(nextAt - lostAt).toBeLessThan(LEASE_SECONDS + WAIT_SLICE_SECONDS + 3)
  })
})

const SILENT = { debug() {}, info() {}, warn() {}, error() {} }
