import { FaultProxy, until } from '@es/coordination-testing'
import type { ClientConfig } from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it, vi } from 'vitest'
import { deriveLockKey } from './lock-key.js'
import type { PostgresLeaderElector } from './postgres-leader-elector.js'
import { LEASE_SECONDS, TestElection, through, WAIT_SLICE_SECONDS } from './test-election.test.harness.js'

const clients = vi.hoisted((): { query(text: string): Promise<unknown> }[] => [])

// The very connections of the electors, newest last: what an operator does to a lock from outside cannot be done to it by SQL.
vi.mock('pg', async (importOriginal) => {
  const { default: pg } = await importOriginal<typeof import('pg')>()
  class Client extends pg.Client {
    constructor(config?: string | ClientConfig) {
      super(config)
      if (typeof config === 'object' && config.stream) clients.push(this)
    }
  }
  return { default: pg, Client }
})

const KEY = deriveLockKey('leader/default', 'e')
const RENEW_DEADLINE_SECONDS = (LEASE_SECONDS * 2) / 3

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

/** Watches electors of this process every millisecond for two leaders at one instant. */
class Watch {
  readonly changes = new Map<string, boolean[]>()
  readonly conflicts: string[] = []
  readonly #timer: NodeJS.Timeout

  constructor(...electors: PostgresLeaderElector[]) {
    for (const elector of electors) {
      const changes: boolean[] = []
      this.changes.set(elector.identity, changes)
      elector.onLeaderChange((isLeader) => {
        changes.push(isLeader)
        look()
      })
    }
    const look = (): void => {
      const leading = electors.filter(({ isLeader }) => isLeader)
      if (leading.length > 1) this.conflicts.push(leading.map(({ identity, fencingToken }) => `${identity} #${fencingToken}`).join(' and '))
    }
    this.#timer = setInterval(look, 1)
  }

  stop(): void {
    clearInterval(this.#timer)
    expect(this.conflicts).toEqual([])
  }
}

let watch: Watch | undefined

afterEach(() => {
  watch?.stop()
  watch = undefined
})

describe('when the server ends sessions', () => {
  it('of the leader: the rival that campaigns leads at once, and the old leader is told once (E10, P8)', async () => {
    const a = election.join('a')
    const b = election.join('b')
    watch = new Watch(a, b)
    await a.tryAcquire()
    const campaign = b.campaign()
    await election.waitForWaiter('b')
    const startedAt = performance.now()
    await election.terminate('a')
    await campaign
    const seconds = (performance.now() - startedAt) / 1000
    process.stdout.write(`takeover after pg_terminate_backend: ${(seconds * 1000).toFixed(1)} ms\n`)
    expect(seconds).toBeLessThan(1)
    await until(() => watch?.changes.get('a')?.length === 2, { what: 'the old leader to be told' })
    expect(watch.changes.get('a')).toEqual([true, false])
    expect(await a.tryAcquire()).toBe(false)
  })

  it('of the candidate while it waits: it comes back with another session and wins when the leader goes (E10)', async () => {
    const a = election.join('a')
    const b = election.join('b')
    watch = new Watch(a, b)
    await a.tryAcquire()
    const campaign = b.campaign()
    campaign.catch(() => {})
    for (let round = 0; round < 3; round++) {
      await election.waitForWaiter('b')
      expect(await election.terminate('b')).toBeGreaterThan(0)
    }
    await election.waitForWaiter('b')
    expect([b.isLeader, watch.changes.get('b')]).toEqual([false, []])
    await election.terminate('a')
    await campaign
    expect([b.isLeader, (await election.leftovers()).locks]).toEqual([true, 1])
  })

  it('ten times in a row of whoever leads: among three there is always a next one, all still campaign, and an ex-leader wins again (E11)', async () => {
    const electors = ['a', 'b', 'c'].map((identity) => election.join(identity))
    watch = new Watch(...electors)
    const stopping = new AbortController()
    const campaigns = electors.map(async (elector) => {
      while (!stopping.signal.aborted) {
        await elector.campaign({ signal: stopping.signal })
        await until(() => !elector.isLeader || stopping.signal.aborted, {
          what: 'the end of the term',
          withinSeconds: 60,
          everySeconds: 0.002,
        })
      }
    })
    const winners: string[] = []
    const tokens: bigint[] = []
    for (let round = 0; round < 10; round++) {
      const leader = await until(() => electors.find(({ isLeader }) => isLeader), { what: `leader ${round}`, withinSeconds: 5 })
      winners.push(leader.identity)
      tokens.push(leader.fencingToken ?? 0n)
      const token = leader.fencingToken
      expect(await election.terminate(leader.identity)).toBeGreaterThan(0)
      await until(() => leader.fencingToken !== token, { what: 'the leader to notice' })
    }
    expect(new Set(winners).size).toBeGreaterThan(1)
    expect(new Set(winners).size).toBeLessThan(10)
    expect(tokens).toEqual([...tokens].sort((one, other) => (one < other ? -1 : 1)))
    expect(new Set(tokens).size).toBe(10)
    stopping.abort()
    expect(
      (await Promise.allSettled(campaigns)).map(({ status }) => status).filter((status) => status === 'rejected').length,
    ).toBeGreaterThan(0)
    for (const changes of watch.changes.values()) for (const [index, isLeader] of changes.entries()) expect(isLeader).toBe(index % 2 === 0)
  })

  it('a hundred times: no listener, warning or session is left behind (W5)', async () => {
    const warnings: Error[] = []
    const onWarning = (warning: Error): void => void warnings.push(warning)
    process.on('warning', onWarning)
    const a = election.join('a')
    for (let round = 0; round < 100; round++) {
      await a.campaign()
      const token = a.fencingToken
      await election.terminate('a')
      await until(() => a.fencingToken !== token, { what: 'the leader to notice', everySeconds: 0.002 })
    }
    await a.campaign()
    await until(async () => (await election.leftovers()).sessions === 1, { what: 'only the last session to be left' })
    process.off('warning', onWarning)
    expect(warnings.filter(({ name }) => name !== 'DeprecationWarning')).toEqual([])
  })
})

describe('when the lock is taken away', () => {
  it('by pg_advisory_unlock_all on its own session, the next renewal notices, by itself, within a third of the lease', async () => {
    // Nobody else can run a statement on that session, so its own driver does.
    const a = election.join('a')
    const b = election.join('b')
    watch = new Watch(a, b)
    await a.tryAcquire()
    const client = clients.at(-1)
    await client?.query('SELECT pg_advisory_unlock_all()')
    expect((await election.leftovers()).locks).toBe(0)
    await until(() => watch?.changes.get('a')?.length === 2, { what: 'the leader to step down', withinSeconds: LEASE_SECONDS })
    expect(await b.tryAcquire()).toBe(true)
    expect(watch.changes.get('a')).toEqual([true, false])
  })

  it('and given to somebody else, the leader that asks again is refused', async () => {
    const a = election.join('a')
    await a.tryAcquire()
    await clients.at(-1)?.query('SELECT pg_advisory_unlock_all()')
    await election.query('SELECT pg_advisory_lock($1::bigint)', [KEY])
    expect(await a.tryAcquire()).toBe(false)
    expect(a.isLeader).toBe(false)
    await election.query('SELECT pg_advisory_unlock($1::bigint)', [KEY])
  })

  it('in part, by a second lock of the same key, the session is ended, so that one unlock cannot leave one behind (P2)', async () => {
    const a = election.join('a')
    await a.tryAcquire()
    await clients.at(-1)?.query('SELECT pg_advisory_lock(1)')
    expect(await a.renew()).toBe(false)
    await until(async () => (await election.leftovers()).locks === 0, { what: 'all its locks to be gone' })
  })
})

describe('when the network', () => {
  let proxy: FaultProxy

  beforeEach(async () => {
    const { hostname, port } = new URL(election.url)
    proxy = await FaultProxy.start({ host: hostname, port: Number(port) })
  })

  afterEach(async () => {
    proxy.heal()
    await proxy.close()
  })

  it.each<['toServer' | 'toClient' | undefined, string]>([
    [undefined, 'swallows both directions'],
    ['toServer', 'swallows requests'],
    ['toClient', 'swallows answers'],
  ])(
    '(%s) %s, the leader steps down by its deadline and the rival leads within the lease, a slice and a margin, not earlier',
    async (direction) => {
      const a = election.join('a', { connection: through(election.url, proxy) })
      const b = election.join('b')
      watch = new Watch(a, b)
      await a.tryAcquire()
      const campaign = b.campaign()
      await election.waitForWaiter('b')
      await a.renew()
      const renewedAt = performance.now()
      proxy.blackhole(direction)
      const cutAt = performance.now()
      await until(() => watch?.changes.get('a')?.length === 2, {
        what: 'the leader to step down',
        withinSeconds: RENEW_DEADLINE_SECONDS + 3,
        everySeconds: 0.002,
      })
      const steppedDown = (performance.now() - renewedAt) / 1000
      await campaign
      const tookOver = (performance.now() - cutAt) / 1000
      process.stdout.write(
        `black hole (${direction ?? 'both'}): stepped down after ${steppedDown.toFixed(2)} s, taken over after ${tookOver.toFixed(2)} s (lease ${LEASE_SECONDS} s)\n`,
      )
      expect(steppedDown).toBeLessThan(RENEW_DEADLINE_SECONDS + 0.5)
      // The renewal that counts was sent a moment before the cut. The watch sees to it that nobody led before the step-down.
      expect(tookOver).toBeGreaterThan(RENEW_DEADLINE_SECONDS - 0.2)
      // Requests that still arrive prolong the lease of the server once: by the renewal that is never answered.
      const longest = LEASE_SECONDS + (direction === 'toClient' ? LEASE_SECONDS / 3 : 0) + WAIT_SLICE_SECONDS + 0.5
      expect(tookOver).toBeLessThan(longest + 1)
      expect([a.isLeader, b.isLeader]).toEqual([false, true])
    },
  )

  it('is slow, the leader goes on leading, and a rival on the same network is refused', async () => {
    proxy.delay(0.1)
    const a = election.join('a', { connection: through(election.url, proxy) })
    const b = election.join('b', { connection: through(election.url, proxy) })
    watch = new Watch(a, b)
    await a.campaign()
    const token = a.fencingToken
    expect(await b.tryAcquire()).toBe(false)
    const startedAt = performance.now()
    await until(() => performance.now() - startedAt > 2 * LEASE_SECONDS * 1000, { what: 'two leases to pass', withinSeconds: 20 })
    expect(a.fencingToken).toBe(token)
  })

  it('resets connections over and over, there is a leader in between and never two', async () => {
    const electors = ['a', 'b'].map((identity) => election.join(identity, { connection: through(election.url, proxy) }))
    watch = new Watch(...electors)
    for (let round = 0; round < 10; round++) {
      await Promise.race(electors.map((elector) => elector.campaign()))
      expect(electors.filter(({ isLeader }) => isLeader)).toHaveLength(1)
      proxy.cut(round % 2 === 0 ? 'reset' : 'end')
      await until(() => electors.every(({ isLeader }) => !isLeader), { what: 'both to notice' })
    }
  })

  it('is a black hole while the leader closes or releases, both settle in bounded time (P7d)', async () => {
    const a = election.join('a', { connection: through(election.url, proxy), requestTimeoutSeconds: 0.5 })
    await a.tryAcquire()
    proxy.blackhole()
    const startedAt = performance.now()
    await expect(a.release()).rejects.toMatchObject({ name: 'ConnectionError' })
    expect(a.isLeader).toBe(false)
    await a.close()
    expect((performance.now() - startedAt) / 1000).toBeLessThan(RENEW_DEADLINE_SECONDS + 2)
  })

  it('is a black hole and the event loop is blocked past the lease, the leader is none on the first line afterwards (W3)', async () => {
    const a = election.join('a', { connection: through(election.url, proxy) })
    await a.tryAcquire()
    const until = performance.now() + RENEW_DEADLINE_SECONDS * 1000 + 20
    while (performance.now() < until);
    expect([a.isLeader, a.fencingToken]).toEqual([false, null])
  })
})
