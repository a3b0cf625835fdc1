import { transportConformance } from '@es/coordination-testing'
import { afterAll, beforeAll, describe, inject, it } from 'vitest'
import { PostgresTransport } from './postgres-transport.js'
import { Proxies } from './proxies.test.harness.js'
import { TestElection } from './test-election.test.harness.js'
import { deriveChannel } from './transport-channel.js'

let database: TestElection
let opened = 0

beforeAll(async () => {
  database = await TestElection.on(inject('databaseUrl'))
})

afterAll(() => database?.[Symbol.asyncDispose]())

transportConformance(
  { describe, it },
  {
    name: 'PostgresTransport',
    patienceSeconds: 10,
    async open({ logger }) {
      const namespace = `medium ${++opened}`
      const proxies = await Proxies.to(database.url, 3)
      const join = (connection: string) =>
        new PostgresTransport({
          connection,
          namespace,
          healthCheckSeconds: 0.2,
          requestTimeoutSeconds: 3,
          longestRetrySeconds: 0.1,
          logger,
        })
      const [first, second, third] = proxies.urls
      const transports = [join(first!), join(second!), join(third!)] as const
      const close = async () => {
        await Promise.all(transports.map((transport) => transport.close()))
        await proxies.close()
      }
      return { transports, close, namespace, proxies }
    },
    powers: {
      loopback: true,
      logging: true,
      carriesBytes: 1_048_576,
      refusesBytes: 1_048_577,
      disconnect: ({ transports, proxies }, transport) => proxies.disconnect([...transports].indexOf(transport as PostgresTransport)),
      async garbage({ namespace }, topic) {
        for (const payload of ['', '{"text": "cut', 'es1;made-up;0;2;{', 'es1;;;', '"no object"'])
          await database.query('SELECT pg_notify($1, $2)', [deriveChannel(namespace, topic), payload])
      },
      close: ({ transports }, transport) => transports.find((one) => one === transport)!.close(),
    },
  },
)
