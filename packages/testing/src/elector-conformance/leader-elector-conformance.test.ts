import * as nodeTest from 'node:test'
import { Leadership, type Logger } from '@es/coordination-core'
import { describe, expect, it } from 'vitest'
import type { ConformanceRunner } from '../conformance/conformance-suite.js'
import { failuresOf } from '../conformance/failures-of.fixture.js'
import { leaderElectorCases, leaderElectorConformance } from './leader-elector-conformance.js'
import type { LeaderElectorElection, LeaderElectorWorld } from './leader-elector-world.js'
import { lies } from './lies/all-lies.fixture.js'
import { FakeBackend } from './lies/fake-backend.fixture.js'
import { HonestElector, type LeadershipLike } from './lies/honest-elector.fixture.js'
import type { Lie } from './lies/lie.fixture.js'
import { OpenLeadership } from './lies/open-leadership.fixture.js'

interface FakeElection extends LeaderElectorElection {
  readonly backend: FakeBackend
}

interface FakeWorldOptions {
  readonly name: string
  readonly elector?: Lie['elector']
  readonly leadership?: (identity: string, logger: Logger) => LeadershipLike
  readonly slowPowers?: readonly (Lie['slowPower'] & string)[]
  readonly patienceSeconds?: number
}

const LEASE_SECONDS = 1

class NeverGivesUp extends HonestElector {
  override async tryAcquire(): Promise<boolean> {
    return await new Promise(() => {})
  }
}

function fakeWorld({
  name,
  elector: Elector = HonestElector,
  leadership = (identity, logger) => new Leadership({ identity, logger }),
  slowPowers = [],
  patienceSeconds = 2,
}: FakeWorldOptions): LeaderElectorWorld<FakeElection> {
  const hasLease = slowPowers.includes('leaseExpiry')
  return {
    name,
    patienceSeconds,
    async open({ logger }) {
      const backend = new FakeBackend(hasLease ? { leaseSeconds: LEASE_SECONDS } : {})
      const make = (identity: string) => new Elector(identity, backend, leadership(identity, logger))
      const contenders = [make('a'), make('b')] as const
      return {
        backend,
        contenders,
        async close() {
          for (const contender of contenders) contender.close()
        },
      }
    },
    powers: {
      fencingToken: true,
      campaign: true,
      logging: true,
      currentLeaderWithinSeconds: 0,
      async loseLeadership({ backend }, leader) {
        backend.takeAway()
        ;(leader as HonestElector).onTakenAway()
      },
      ...(slowPowers.includes('hang') && { hang: async ({ backend }: FakeElection) => backend.hang() }),
      ...(hasLease && {
        leaseExpiry: {
          leaseSeconds: LEASE_SECONDS,
          cutOff: async ({ backend }: FakeElection, leader: object) => backend.cutOff(leader),
        },
      }),
    },
  }
}

leaderElectorConformance({ describe, it }, fakeWorld({ name: 'An honest elector', slowPowers: ['hang', 'leaseExpiry'] }))

describe('the suite', () => {
  it('fits node:test as it fits vitest', () => {
    const runners: readonly ConformanceRunner[] = [nodeTest, { describe, it }]
    expect(runners).toHaveLength(2)
  })

  it('registers every case once, and those that need a missing power as skipped, with the reason', () => {
    const registered: string[] = []
    const skipped: string[] = []
    const it = Object.assign((name: string) => registered.push(name), { skip: (name: string) => skipped.push(name) })
    const { open, name } = fakeWorld({ name: 'any' })
    const world: LeaderElectorWorld<FakeElection> = { open, name, powers: { fencingToken: true } }
    leaderElectorConformance({ describe: (_name, body) => body(), it }, world)
    const cases = leaderElectorCases(world)
    expect(registered).toEqual(cases.filter(({ missingPowers }) => missingPowers.length === 0).map((runnable) => runnable.name))
    expect(registered).toContain('keeps one token for the whole term')
    expect(skipped).toContain('has a larger token after the backend took leadership away [the world does not declare: loseLeadership]')
    expect(registered.length + skipped.length).toBe(cases.length)
  })

  it('opens an election of its own for every case and closes it once, also after a failure', async () => {
    const { open, ...rest } = fakeWorld({ name: 'counted', patienceSeconds: 0.05 })
    let opened = 0
    let closed = 0
    const world: LeaderElectorWorld<FakeElection> = {
      ...rest,
      async open(tools) {
        opened++
        const election = await open(tools)
        const [first] = election.contenders
        first.tryAcquire = () => Promise.reject(new Error('broken'))
        return { ...election, close: async () => void closed++ }
      },
      powers: {},
    }
    const failures = await failuresOf(leaderElectorCases(world))
    expect(failures.length).toBeGreaterThan(20)
    expect(opened).toBe(leaderElectorCases(world).filter(({ missingPowers }) => missingPowers.length === 0).length)
    expect(closed).toBe(opened)
  })

  it('names the call that hangs, and ends every case within its limit', async () => {
    const { open, ...rest } = fakeWorld({ name: 'hanging', patienceSeconds: 0.05 })
    const world: LeaderElectorWorld<FakeElection> = {
      ...rest,
      async open(tools) {
        const election = await open(tools)
        for (const elector of election.contenders) {
          const never = () => new Promise<never>(() => {})
          Object.assign(elector, { tryAcquire: never, release: never, renew: never, campaign: never })
        }
        return election
      },
    }
    const first = leaderElectorCases(world).find(({ name }) => name === 'makes the first that asks the leader')
    await expect(first?.run()).rejects.toThrow('tryAcquire() of a did not settle within 0.05 s')
    const limits = leaderElectorCases(world).map(({ limitSeconds }) => limitSeconds)
    const start = performance.now()
    expect((await failuresOf(leaderElectorCases(world))).length).toBeGreaterThan(40)
    expect(performance.now() - start).toBeLessThan(Math.max(...limits) * 1000 + 2000)
  })

  it('is bounded when the world itself does not open or close', async () => {
    const { open, ...rest } = fakeWorld({ name: 'stuck', patienceSeconds: 0.02 })
    const [neverOpens] = leaderElectorCases({ ...rest, open: () => new Promise<FakeElection>(() => {}) })
    await expect(neverOpens?.run()).rejects.toThrow('open() of the world did not settle within 0.1 s')
    const [neverCloses] = leaderElectorCases({
      ...rest,
      open: async (tools) => ({ ...(await open(tools)), close: () => new Promise<void>(() => {}) }),
    })
    await expect(neverCloses?.run()).rejects.toThrow('close() of the world did not settle within 0.1 s')
  })

  it('ends what a failed case left broken before it closes the election', async () => {
    const events: string[] = []
    const { open, ...rest } = fakeWorld({ name: 'deaf', patienceSeconds: 0.05, elector: NeverGivesUp })
    const cases = leaderElectorCases<FakeElection>({
      ...rest,
      open: async (tools) => ({ ...(await open(tools)), close: async () => void events.push('closed') }),
      powers: { hang: async () => async () => void events.push('healed') },
    })
    const deaf = cases.find(({ name }) => name.includes('very first contact'))
    await expect(deaf?.run()).rejects.toThrow(
      'must reject with a ConnectionError, but it rejected with: tryAcquire({ timeoutSeconds: 0.3 }) did not settle within 0.35 s',
    )
    expect(events).toEqual(['healed', 'closed'])
  })

  it('passes the elector that the liars are made of', { timeout: 60_000 }, async () => {
    const leadership = (identity: string, logger: Logger) => new OpenLeadership(identity, logger)
    expect(
      await failuresOf(leaderElectorCases(fakeWorld({ name: 'OpenLeadership', leadership, slowPowers: ['hang', 'leaseExpiry'] }))),
    ).toEqual([])
  })

  it('has a liar for every case', () => {
    const caught = new Set(lies.flatMap(({ fails }) => fails))
    const names = leaderElectorCases(fakeWorld({ name: 'any' })).map(({ name }) => name)
    expect(names.filter((name) => !caught.has(name))).toEqual([])
    expect(new Set(names).size).toBe(names.length)
  })
})

describe.concurrent('an elector that lies fails the cases that name the lie, and no other', () => {
  it.each(lies)('$lie', { timeout: 60_000 }, async ({ lie, elector, leadership: Liar = OpenLeadership, slowPower, fails }) => {
    const world = fakeWorld({
      name: lie,
      elector,
      leadership: (identity, logger) => new Liar(identity, logger),
      slowPowers: slowPower ? [slowPower] : [],
      patienceSeconds: 1.5,
    })
    expect(await failuresOf(leaderElectorCases(world))).toEqual(fails)
  })
})
