// Shows an election through a PostgreSQL advisory lock, as two processes would hold it (here it is one, with a connection for each elector): a
// follower that knows the leader, a handover on release, and a takeover when the leader's connection is cut. It needs no table. Uses the server
// of DATABASE_URL, or starts one.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { PostgresLeaderElector } from '@es/coordination-postgres'
import { sharedServer } from '@es/test-server'
import pg from 'pg'

await using server = await sharedServer()

// The lease says how soon a *silent* leader is replaced; one that dies or releases is replaced at once. Ten seconds are usual.
const election = { connection: server.url, election: 'nightly-compaction', leaseSeconds: 1 }
await using first = new PostgresLeaderElector({ ...election, identity: 'worker-1', logger: quiet() })
await using second = new PostgresLeaderElector({ ...election, identity: 'worker-2' })

await first.campaign()
console.log(`worker-1 leads with fencing token ${first.fencingToken}`)
const firstToken = first.fencingToken
assert.ok(firstToken !== null)

assert.equal(await second.tryAcquire(), false)
assert.equal(second.currentLeader, 'worker-1', 'a follower reads the leader from the lock table of the server')

// Handover: the second waits inside the server, and leads as soon as the first has released.
const handover = second.campaign()
const releasedAt = performance.now()
await first.release()
await handover
console.log(`worker-2 leads with fencing token ${second.fencingToken}, ${(performance.now() - releasedAt).toFixed(0)} ms after the release`)
const secondToken = second.fencingToken
assert.ok(
  secondToken !== null && secondToken > firstToken,
  'every term has a larger token, so a database can refuse writes of an older one',
)

// Takeover: cut the connection of worker-1 in the middle of its next term. It is told, and worker-2 is there at once.
await second.release()
await first.campaign()
const changes = new EventTarget()
first.onLeaderChange((isLeader) => void (isLeader || changes.dispatchEvent(new Event('lost'))))
const lost = once(changes, 'lost')
const takeover = second.campaign()
await cutConnectionOf('worker-1')
await Promise.all([lost, takeover])
assert.equal(first.isLeader, false)
assert.equal(second.isLeader, true)
console.log('worker-1 lost its connection and was told; worker-2 took over')

async function cutConnectionOf(identity: string): Promise<void> {
  const admin = new pg.Client({ connectionString: server.url })
  await admin.connect()
  try {
    const { rowCount } = await admin.query(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1 AND datname = current_database()',
      [identity],
    )
    assert.equal(rowCount, 1)
  } finally {
    await admin.end()
  }
}

/** A loss is logged as a warning, which is right; here it is planned. */
function quiet() {
  const ignore = (): void => {}
  return { debug: ignore, info: ignore, warn: ignore, error: ignore }
}
