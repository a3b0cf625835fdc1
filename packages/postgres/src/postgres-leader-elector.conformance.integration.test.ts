import { leaderElectorConformance } from '@es/coordination-testing'
import { afterAll, beforeAll, describe, inject, it } from 'vitest'
import { Proxies } from './proxies.test.harness.js'
import { LEASE_SECONDS, TestElection, WAIT_SLICE_SECONDS } from './test-election.test.harness.js'

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
      const proxies = await Proxies.to(database.url, 2)
      const [first, second] = proxies.urls
      const join = (identity: string, connection: string) => database.join(identity, { election, connection, logger })
      const contenders = [join('a', first!), join('b', second!)] as const
      const close = async () => {
        proxies.heal()
        await Promise.all(contenders.map((elector) => elector.close()))
        await proxies.close()
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
      hang: ({ proxies }) => proxies.hang(),
      leaseExpiry: {
        leaseSeconds: LEASE_SECONDS + WAIT_SLICE_SECONDS + 0.5,
        cutOff: ({ contenders, proxies }, leader) => proxies.blackhole(leader === contenders[0] ? 0 : 1),
      },
    },
  },
)
