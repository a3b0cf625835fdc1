import { ownershipConformance } from '@es/coordination-testing'
import { afterAll, beforeAll, describe, inject, it } from 'vitest'
import { PostgresOwnership } from './postgres-ownership.js'
import { Proxies } from './proxies.test.harness.js'
import { LEASE_SECONDS, TestElection } from './test-election.test.harness.js'

let database: TestElection
let opened = 0

beforeAll(async () => {
  database = await TestElection.on(inject('databaseUrl'))
})

afterAll(() => database?.[Symbol.asyncDispose]())

ownershipConformance(
  { describe, it },
  {
    name: 'PostgresOwnership',
    patienceSeconds: 10,
    async open({ logger }) {
      const options = { namespace: `contest ${++opened}`, leaseSeconds: LEASE_SECONDS, requestTimeoutSeconds: 3, maxClaims: 800, logger }
      const proxies = await Proxies.to(database.url, 2)
      const [first, second] = proxies.urls
      const join = (identity: string, connection: string) => new PostgresOwnership({ ...options, identity, connection })
      const contenders = [join('a', first!), join('b', second!)] as const
      const close = async () => {
        await Promise.all(contenders.map((ownership) => ownership.close()))
        await proxies.close()
      }
      return { contenders, close, proxies }
    },
    powers: {
      namesHolders: true,
      refusesBatchOf: 801,
      async loseClaims(_contest, { instanceId }) {
        await database.terminate(instanceId)
      },
      disconnect: ({ contenders, proxies }, owner) => proxies.disconnect(owner === contenders[0] ? 0 : 1),
      hang: ({ proxies }) => proxies.hang(),
      leaseExpiry: {
        leaseSeconds: LEASE_SECONDS + 0.5,
        cutOff: ({ contenders, proxies }, owner) => proxies.blackhole(owner === contenders[0] ? 0 : 1),
      },
      close: ({ contenders }, owner) => contenders.find((one) => one === owner)!.close(),
    },
  },
)
