import { transportConformance } from '@es/coordination-testing'
import { describe, it } from 'vitest'
import { InMemoryTransport } from './in-memory-transport.js'
import { SharedBus } from './shared-bus.js'

transportConformance(
  { describe, it },
  {
    name: 'InMemoryTransport',
    async open({ logger }) {
      const bus = new SharedBus()
      const join = (name: string) => new InMemoryTransport({ bus, name, logger })
      return { transports: [join('a'), join('b'), join('c')], bus, async close() {} }
    },
    // Not declared: refusesBytes. Memory has no limit of its own.
    powers: {
      loopback: true,
      logging: true,
      carriesBytes: 1_000_000,
      async disconnect({ transports }, transport) {
        const connected = transports.find((one) => one === transport)!
        connected.disconnect()
        return async () => connected.reconnect()
      },
      garbage: async ({ bus }, topic) => bus.send('somebody else', topic, 'no object' as never),
      close: ({ transports }, transport) => transports.find((one) => one === transport)!.close(),
    },
  },
)
