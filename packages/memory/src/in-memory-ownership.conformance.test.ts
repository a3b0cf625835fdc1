import { ownershipConformance } from '@es/coordination-testing'
import { describe, it } from 'vitest'
import { InMemoryOwnership } from './in-memory-ownership.js'
import { SharedClaims } from './shared-claims.js'

ownershipConformance(
  { describe, it },
  {
    name: 'InMemoryOwnership',
    async open() {
      const claims = new SharedClaims()
      return { contenders: [new InMemoryOwnership('a', { claims }), new InMemoryOwnership('b', { claims })], async close() {} }
    },
    // Not declared: hang and leaseExpiry, because memory answers at once and has no lease, and refusesBatchOf, because it has no limit of its own.
    powers: {
      namesHolders: true,
      loseClaims: async ({ contenders }, owner) => contenders.find((one) => one === owner)!.forceLose(),
      async disconnect({ contenders }, owner) {
        const connected = contenders.find((one) => one === owner)!
        connected.disconnect()
        return async () => connected.reconnect()
      },
      close: ({ contenders }, owner) => contenders.find((one) => one === owner)!.close(),
    },
  },
)
