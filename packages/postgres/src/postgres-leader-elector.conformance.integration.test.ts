import { FaultProxy, leaderElectorConformance } from '@es/coordination-testing'
import { afterAll, beforeAll, describe, inject, it } from 'vitest'
import { LEASE_SECONDS, TestElection, through, WAIT_SLICE_SECONDS } from './test-election.test.harness.js'

let database: TestElection
let opened = 0

beforeAll(async () => {
  database = await TestElection.on(inject('databaseUrl'))
})

afterAll(() => database?.[Symbol.asyncDispose]())

leaderElectorConformance(
  { describe, it },
  {
    name: 'PostgresLeaderElector',
    patienceSeconds: 10,
    async open({ logger }) {
      const election = `election ${++opened}`
      const { hostname: host, port } = new URL(database.url)
      const proxies = [await FaultProxy.start({ host, port: Number(port) }), await FaultProxy.start({ host, port: Number(port) })] as const
      const join = (identity: string, proxy: FaultProxy) => database.join(identity, { election, connection: through(database.url, proxy), logger })
      const contenders = [join('a', proxies[0]), join('b', proxies[1])] as const
      const close = async () => {
        for (const proxy of proxies) proxy.heal()
        await Promise.all(contenders.map((elector) => elector.close()))
        await Promise.all(proxies.map((proxy) => proxy.close()))
      }
      return { contenders, close, proxies }
    },
    // Not declared: currentLeaderWithinSeconds. A follower looks by itself once it has connected, but not before its first call.
    powers: {
      fencingToken: true,
      campaign: true,
      logging: true,
      async loseLeadership(_election, leader) {
        await database.terminate(leader.identity)
      },
      async hang({ proxies }) {
        for (const proxy of proxies) proxy.blackhole('toClient')
        return async () => proxies.forEach((proxy) => proxy.heal())
      },
      leaseExpiry: {
        leaseSeconds: LEASE_SECONDS + WAIT_SLICE_SECONDS + 0.5,
        async cutOff({ contenders, proxies }, leader) {
          const proxy = proxies[leader === contenders[0] ? 0 : 1]
          proxy.blackhole()
          return async () => proxy.heal()
        },
      },
    },
  },
)
