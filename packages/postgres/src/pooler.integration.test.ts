import { connect as connectSocket, createServer } from 'node:net'
import type { ConnectionError } from '@es/coordination-core'
import { FaultProxy, until } from '@es/coordination-testing'
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest'
import { conflictsOf, ElectorProcess, machineSeconds } from './elector-process.test.harness.js'
import { HAS_PGBOUNCER, PgBouncer, type PgBouncerSettings, WITHOUT_PGBOUNCER } from './pgbouncer.test.harness.js'
import { PostgresCoordination } from './postgres-coordination.js'
import { PostgresTransport } from './postgres-transport.js'
import type { Pooler } from './session-settings.js'
import { connect, LEASE_SECONDS, TestElection, through, WAIT_SLICE_SECONDS } from './test-election.test.harness.js'

let election: TestElection
const poolers: PgBouncer[] = []
const children: ElectorProcess[] = []

beforeAll(async () => {
  election = await TestElection.on(inject('databaseUrl'))
})

afterEach(async () => {
  const conflicts = conflictsOf(children)
  const alarms = children.flatMap((child) => child.alarms)
  await Promise.all(children.splice(0).map((child) => child[Symbol.asyncDispose]()))
  await Promise.all(election.electors.splice(0).map((elector) => elector.close()))
  await Promise.all(poolers.splice(0).map((pooler) => pooler[Symbol.asyncDispose]()))
  expect({ conflicts, alarms }).toEqual({ conflicts: [], alarms: [] })
  await until(async () => (await election.leftovers()).sessions === 0, { what: 'all sessions to be gone' })
})

afterAll(() => election?.[Symbol.asyncDispose]())

async function start(settings: PgBouncerSettings): Promise<PgBouncer> {
  const pooler = await PgBouncer.start(election.url, {
    ignore_startup_parameters: 'extra_float_digits',
    default_pool_size: 20,
    ...settings,
  })
  poolers.push(pooler)
  return pooler
}

const electorProcess = (identity: string, connection: string): ElectorProcess => {
  const child = new ElectorProcess({
    identity,
    connection,
    pooler: 'session',
    leaseSeconds: LEASE_SECONDS,
    waitSliceSeconds: WAIT_SLICE_SECONDS,
    requestTimeoutSeconds: 2,
    longestRetrySeconds: 0.5,
  })
  children.push(child)
  return child
}

const leading = (child: ElectorProcess): Promise<true> =>
  until(() => child.leads, { what: `${child.identity} to lead`, withinSeconds: 20, everySeconds: 0.002 })

async function leaderAndRival({ url }: PgBouncer): Promise<[leader: ElectorProcess, rival: ElectorProcess]> {
  const leader = electorProcess('leader', url)
  await leading(leader)
  const rival = electorProcess('rival', url)
  await election.waitForWaiter('rival')
  return [leader, rival]
}

async function expectRefusal(connection: string, pooler: Pooler, code: string, message: string): Promise<void> {
  const refusal = { name: 'ConnectionError', code, message: expect.stringContaining(message) }
  const elector = election.join('a', { connection, pooler })
  // A session that was ended may be handed out once more, before the pooler has noticed.
  const isRefused = async (call: () => Promise<unknown>): Promise<boolean> => {
    const error = await call().catch((reason: unknown) => reason)
    if ((error as Partial<ConnectionError>).code === 'unreachable') return false
    expect(error).toMatchObject(refusal)
    return true
  }
  await until(() => isRefused(() => elector.tryAcquire()), { what: 'an attempt to be refused' })
  await until(() => isRefused(() => elector.campaign()), { what: 'a campaign to be refused' })
  expect(elector.isLeader).toBe(false)
  await using transport = new PostgresTransport({ connection, pooler, requestTimeoutSeconds: 3, logger: election.logger })
  await until(() => isRefused(() => transport.publish('t', {})), { what: 'a message to be refused' })
  await until(async () => (await election.leftovers()).locks === 0, { what: 'no lock to be left' })
  const next = await connect(connection)
  expect((await next.query(SETTINGS)).rows).toEqual([UNTOUCHED])
  await next.end()
}

// Of those that a lock session changes.
const SETTINGS = `SELECT current_setting('idle_session_timeout') AS idle, current_setting('statement_timeout') AS statement,
  current_setting('search_path') AS path, current_setting('application_name') AS name`
const UNTOUCHED = { idle: '0', statement: '0', path: '"$user", public', name: '' }

describe.skipIf(!HAS_PGBOUNCER)(`PgBouncer is refused (P5)${WITHOUT_PGBOUNCER}`, () => {
  const OPTIONS_IGNORED = { ignore_startup_parameters: 'extra_float_digits,options' }

  it.each<[string, PgBouncerSettings]>([
    ['transaction mode', { pool_mode: 'transaction' }],
    ['transaction mode, dropping our options', { pool_mode: 'transaction', ...OPTIONS_IGNORED }],
    ['statement mode', { pool_mode: 'statement' }],
    ['statement mode, dropping our options', { pool_mode: 'statement', ...OPTIONS_IGNORED }],
    ['session mode, of which nobody said anything', { pool_mode: 'session' }],
    ['session mode, dropping our options', { pool_mode: 'session', ...OPTIONS_IGNORED }],
  ])('in %s', async (_mode, settings) => {
    const { url } = await start(settings)
    await expectRefusal(
      url,
      'none',
      'transaction_pooler',
      "connect to the server directly; or, if the pooler is in session mode, set pooler: 'session'",
    )
  })

  it.each<[string, PgBouncerSettings, string]>([
    ['transaction mode', { pool_mode: 'transaction' }, 'it lets two connections share a server session'],
    ['transaction mode that resets', { pool_mode: 'transaction', server_reset_query_always: 1 }, 'it lets two connections share'],
    ['statement mode', { pool_mode: 'statement' }, 'it lets two connections share'],
    ['session mode that frees no locks', { pool_mode: 'session', server_reset_query: 'RESET ALL' }, 'a lock outlives its connection'],
  ])('in %s, although it is said to be in session mode', async (_mode, settings, found) => {
    const { url } = await start(settings)
    await expectRefusal(url, 'session', 'transaction_pooler', found)
  })

  it('in transaction mode where sessions are handed out in turn', async () => {
    const { url } = await start({ pool_mode: 'transaction', server_round_robin: 1 })
    // Several sessions that lie idle.
    const clients = await Promise.all(Array.from({ length: 4 }, () => connect(url)))
    await Promise.all(clients.map((client) => client.query('SELECT pg_sleep(0.1)')))
    await Promise.all(clients.map((client) => client.end()))
    await expectRefusal(url, 'session', 'transaction_pooler', 'it moves a connection from one server session to another')
  })

  it('in transaction mode where the connections of an instance never meet in one pool', async () => {
    const targets = await Promise.all([start({ pool_mode: 'transaction' }), start({ pool_mode: 'transaction' })])
    let turn = 0
    const balancer = createServer((client) => {
      const server = connectSocket(Number(new URL(targets[turn++ % 2]?.url ?? '').port), '127.0.0.1')
      for (const [from, to] of [[client, server] as const, [server, client] as const]) {
        from.pipe(to)
        from.on('error', () => to.destroy())
        from.on('close', () => to.destroy())
      }
    })
    await new Promise<void>((resolve) => balancer.listen(0, '127.0.0.1', resolve))
    const { port } = balancer.address() as { port: number }
    await expectRefusal(
      through(election.url, { host: '127.0.0.1', port }),
      'session',
      'transaction_pooler',
      'a lock outlives its connection',
    )
    await new Promise((resolve) => balancer.close(resolve))
  })

  it('with locks that a former client left in the session it hands out', async () => {
    const { url } = await start({ pool_mode: 'session', server_reset_query: 'RESET ALL' })
    const former = await connect(url)
    await former.query('SELECT pg_advisory_lock(42)')
    await former.end()
    const elector = election.join('a', { connection: url, pooler: 'session' })
    await expect(elector.tryAcquire()).rejects.toMatchObject({
      code: 'transaction_pooler',
      message: expect.stringContaining('a server session in which another client left locks'),
    })
  })

  it('when its pool is too small, with a hint, and works again when there is room', async () => {
    const { url } = await start({ pool_mode: 'session', default_pool_size: 2 })
    const others = await Promise.all([connect(url), connect(url)])
    await Promise.all(others.map((other) => other.query('SELECT')))
    const elector = election.join('a', { connection: url, pooler: 'session', requestTimeoutSeconds: 0.5 })
    await expect(elector.tryAcquire()).rejects.toMatchObject({ code: 'timed_out', message: expect.stringContaining('default_pool_size') })
    const campaign = elector.campaign()
    await Promise.all(others.map((other) => other.end()))
    await campaign
    expect(elector.isLeader).toBe(true)
  })

  it('when the connection has options, which it takes none of', async () => {
    const { url } = await start({ pool_mode: 'session' })
    const elector = election.join('a', { connection: { connectionString: url, options: '-c work_mem=1MB' }, pooler: 'session' })
    await expect(elector.tryAcquire()).rejects.toMatchObject({
      code: 'settings_refused',
      message: expect.stringContaining('unsupported startup parameter: options'),
    })
  })
})

describe.skipIf(!HAS_PGBOUNCER)(`PgBouncer in session mode works once it is said to be${WITHOUT_PGBOUNCER}`, () => {
  const enter = (instanceId: string, connection: string): PostgresCoordination =>
    new PostgresCoordination({
      instanceId,
      connection,
      pooler: 'session',
      leaseSeconds: LEASE_SECONDS,
      requestTimeoutSeconds: 3,
      pollSeconds: 0.05,
      logger: election.logger,
    })

  it('for elector, ownership and transport, and leaves neither lock nor setting to whoever comes next', async () => {
    const { url } = await start({ pool_mode: 'session' })
    const [a, b] = [enter('a', url), enter('b', url)]
    const heard: unknown[] = []
    await b.transport.subscribe('t', (message) => heard.push(message))
    await a.transport.publish('t', { from: 'a' })
    expect([await a.elector.tryAcquire(), await b.elector.tryAcquire()]).toEqual([true, false])
    expect(b.elector.currentLeader).toBe('a')
    expect((await a.ownership.claim(['s1', 's2'])).claimed).toHaveLength(2)
    expect((await b.ownership.claim(['s2', 's3'])).denied.map(({ holder }) => holder?.instanceId)).toEqual(['a'])
    await until(() => heard.length === 1, { what: 'the message' })
    const campaign = b.elector.campaign()
    await a.close()
    await campaign
    await b.close()
    expect((await election.leftovers()).locks).toBe(0)
    const next = await connect(url)
    expect((await next.query(SETTINGS)).rows).toEqual([UNTOUCHED])
    await next.end()
  })

  it('for a server that is reached directly, too', async () => {
    const elector = election.join('a', { pooler: 'session' })
    expect(await elector.tryAcquire()).toBe(true)
    await election.terminate('a')
    await until(() => !elector.isLeader, { what: 'the loss' })
    expect(await elector.tryAcquire()).toBe(true)
  })

  it('and tells a leader at once that the server ended its session', async () => {
    const { url } = await start({ pool_mode: 'session' })
    const elector = election.join('a', { connection: url, pooler: 'session' })
    await elector.campaign()
    const lost = new Promise((resolve) => elector.onLeaderChange(resolve))
    await election.terminate('a')
    expect(await lost).toBe(false)
  })

  it('and hands over as soon as the leader’s process dies', async () => {
    const [leader, rival] = await leaderAndRival(await start({ pool_mode: 'session' }))
    const at = leader.signal('SIGKILL')
    await leading(rival)
    report('SIGKILL', rival, at)
  })

  it('and within the lease when it is stopped, which the server enforces through the pooler', async () => {
    const [leader, rival] = await leaderAndRival(await start({ pool_mode: 'session' }))
    const at = leader.signal('SIGSTOP')
    await leading(rival)
    report('SIGSTOP', rival, at)
    leader.signal('SIGCONT')
    await until(() => !leader.leads, { what: 'the stopped one to notice' })
  })

  it.each<[string, 'client' | 'server']>([
    ['cut off from the pooler', 'client'],
    ['cut off from the server', 'server'],
  ])('and within the lease when its connection is %s', async (_what, side) => {
    const proxies: FaultProxy[] = []
    const behindProxy = async (url: string): Promise<string> => {
      const { hostname: host, port } = new URL(url)
      const proxy = await FaultProxy.start({ host, port: Number(port) })
      proxies.push(proxy)
      return through(url, proxy)
    }
    const serverUrl = side === 'server' ? await behindProxy(election.url) : election.url
    const pooler = await PgBouncer.start(serverUrl, { pool_mode: 'session' })
    poolers.push(pooler)
    const leader = electorProcess('leader', side === 'client' ? await behindProxy(pooler.url) : pooler.url)
    await leading(leader)
    const rival = electorProcess('rival', (await start({ pool_mode: 'session' })).url)
    await election.waitForWaiter('rival')
    const at = machineSeconds()
    for (const proxy of proxies) proxy.blackhole()
    await leading(rival)
    report(`a black hole towards the ${side}`, rival, at)
    await until(() => !leader.leads, { what: 'the leader to give up' })
    await leader[Symbol.asyncDispose]()
    for (const proxy of proxies) await proxy.close()
  })

  it('and when the pooler itself is killed, the leader is none at once, and somebody leads again when it is back', async () => {
    const pooler = await start({ pool_mode: 'session' })
    const [leader, rival] = await leaderAndRival(pooler)
    await pooler.kill()
    await until(() => !leader.leads, { what: 'the leader to hear of it' })
    await until(async () => (await election.leftovers()).locks === 0, { what: 'the server to free the lock' })
    await pooler.revive()
    await until(() => leader.leads || rival.leads, { what: 'a leader', withinSeconds: 20 })
  })
})

function report(what: string, rival: ElectorProcess, at: number): void {
  const seconds = (rival.of('lead')[0]?.at ?? Number.NaN) - at
  // biome-ignore lint/suspicious/noConsole: the figure is worth a line.
  console.log(`takeover through PgBouncer after ${what}: ${seconds.toFixed(2)} s (lease ${LEASE_SECONDS} s)`)
}
