// Shows how to swap the adapter for each environment without touching the code that uses it: ELECTOR=memory (the default, for development and tests) or
// ELECTOR=postgres (DATABASE_URL, or a server that is started here). Only `openElection` knows the adapters.
import assert from 'node:assert/strict'
import type { CampaigningLeaderElector } from '@es/coordination-core'
import { InMemoryLeaderElector, SharedLeaderState } from '@es/coordination-memory'
import { PostgresLeaderElector } from '@es/coordination-postgres'
import { sharedServer } from '@es/test-server'

interface Election extends AsyncDisposable {
  /** One contender; whoever enters it disposes of it. */
  enter(identity: string): CampaigningLeaderElector & AsyncDisposable
}

async function openElection(adapter: string): Promise<Election> {
  switch (adapter) {
    case 'memory': {
      const sharedState = new SharedLeaderState()
      return { enter: (identity) => new InMemoryLeaderElector(identity, { sharedState }), async [Symbol.asyncDispose]() {} }
    }
    case 'postgres': {
      const server = await sharedServer()
      const settings = { connection: server.url, election: 'invoices', leaseSeconds: 1 }
      return { enter: (identity) => new PostgresLeaderElector({ identity, ...settings }), [Symbol.asyncDispose]: () => server.stop() }
    }
    default:
      throw new Error(`ELECTOR must be memory or postgres, got ${adapter}`)
  }
}

// From here on nothing knows which adapter it is.

/** Waits for its turn, works alone, and hands over. */
async function workAlone(identity: string, work: () => Promise<void>): Promise<void> {
  await using elector = election.enter(identity)
  await elector.campaign()
  await work()
}

const adapter = process.env.ELECTOR ?? 'memory'
await using election = await openElection(adapter)

const workers = ['worker-1', 'worker-2', 'worker-3']
const done: string[] = []
let atWork = 0

await Promise.all(
  workers.map((identity) =>
    workAlone(identity, async () => {
      atWork++
      assert.equal(atWork, 1, 'two workers are at work at once')
      await new Promise((resolve) => setTimeout(resolve, 20))
      done.push(identity)
      atWork--
    }),
  ),
)

assert.deepEqual([...done].sort(), workers, 'each worker had its turn')
console.log(`${adapter}: ${done.join(', ')} worked one after the other`)
