// Shows the coordinated worker: the subscriptions of an event log, shared by several instances. Each subscription runs in one of them, moves when
// instances come and go, and starts from its checkpoint; the fencing token keeps a former owner from writing. Here two instances run in one
// process; in yours each is a process of its own. Uses the server of DATABASE_URL, or starts one.
import assert from 'node:assert/strict'
import { sleep } from '@es/coordination-core'
import { PostgresCoordination } from '@es/coordination-postgres'
import { until } from '@es/coordination-testing'
import { CoordinatedWorker } from '@es/coordination-worker'
import { sharedServer } from '@es/test-server'
import pg from 'pg'

await using server = await sharedServer()
const pool = new pg.Pool({ connectionString: server.url })
// Without listeners a connection that dies, idle or in use, would end the process; whoever uses it is told anyhow.
pool.on('error', () => {}).on('connect', (client) => client.on('error', () => {}))
await pool.query(`
  CREATE TABLE events (position bigint PRIMARY KEY);
  CREATE TABLE checkpoints (subscription text PRIMARY KEY, position bigint NOT NULL, fencing_token bigint NOT NULL);
  CREATE TABLE applied (subscription text, position bigint, worker text);
  INSERT INTO checkpoints SELECT name, 0, 0 FROM unnest(ARRAY['orders', 'invoices', 'shipments', 'returns']) AS name`)

const subscriptions = ['orders', 'invoices', 'shipments', 'returns']
// Ten seconds are usual; after its start a server grants nothing for one lease.
const database = { connection: server.url, leaseSeconds: 3 }

async function startWorker(instanceId: string): Promise<CoordinatedWorker> {
  const coordination = new PostgresCoordination({ instanceId, ...database })
  const worker = new CoordinatedWorker({
    instanceId,
    subscriptions,
    elector: coordination.elector,
    ownership: coordination.ownership,
    transport: coordination.transport,
    async run(subscription, { signal, lost, fencingToken }) {
      // Told to stop, it finishes the batch; only when the claim is lost it must write nothing more.
      while (!signal.aborted) {
        const count = await inTransaction(lost, async (client) => {
          const position = await lockCheckpoint(client, subscription, fencingToken)
          return await applyEventsAfter(position, client, { subscription, fencingToken, instanceId })
        })
        if (count === 0) await sleep(0.1, { signal }).catch(() => {})
      }
    },
    handleSignals: true,
    dispose: [coordination],
  })
  await worker.start()
  return worker
}

/** One transaction. It does not commit once the claim is lost. */
async function inTransaction<T>(lost: AbortSignal, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  try {
    await client.query('BEGIN')
    const result = await work(client)
    lost.throwIfAborted()
    await client.query('COMMIT')
    client.release()
    return result
  } catch (error) {
    // Ending the connection rolls back, even where ROLLBACK could not be sent. The worker starts the run again after a pause.
    client.release(true)
    throw error
  }
}

/** The lock makes owners take turns, so whoever comes second sees the token of the first. */
async function lockCheckpoint(client: pg.PoolClient, subscription: string, fencingToken: bigint | null): Promise<bigint> {
  const { rows } = await client.query('SELECT position, fencing_token FROM checkpoints WHERE subscription = $1 FOR UPDATE', [subscription])
  if (fencingToken === null || BigInt(rows[0].fencing_token) > fencingToken) throw new Error('A later owner has written already')
  return BigInt(rows[0].position)
}

interface Owner {
  readonly subscription: string
  readonly fencingToken: bigint | null
  readonly instanceId: string
}

async function applyEventsAfter(
  position: bigint,
  client: pg.PoolClient,
  { subscription, fencingToken, instanceId }: Owner,
): Promise<number> {
  const events = await client.query('SELECT position FROM events WHERE position > $1 ORDER BY position LIMIT 20', [position])
  for (const event of events.rows) await client.query('INSERT INTO applied VALUES ($1, $2, $3)', [subscription, event.position, instanceId])
  const last = events.rows.at(-1)?.position ?? position
  await client.query('UPDATE checkpoints SET position = $2, fencing_token = $3 WHERE subscription = $1', [subscription, last, fencingToken])
  return events.rows.length
}

// The rest is the check. Two workers share the work; one leaves, and the other goes on where it stopped.
const first = await startWorker('worker-1')
const second = await startWorker('worker-2')
await appendEvents(200)
await until(() => running(first).length === 2 && running(second).length === 2, { what: 'an even share for each', withinSeconds: 20 })
console.log(`worker-1 runs ${running(first).join(' and ')}; worker-2 runs ${running(second).join(' and ')}`)

await appendEvents(200)
await first.stop()
await until(() => running(second).length === 4, { what: 'worker-2 to run everything', withinSeconds: 20 })
await appendEvents(200)
await until(async () => (await count('SELECT min(position) AS count FROM checkpoints')) === 600, {
  what: 'the end of the log',
  withinSeconds: 20,
})
await second.stop()

assert.equal(await count('SELECT count(*) FROM applied'), 4 * 600, 'every event was applied for each subscription, and none twice')
assert.equal(await count('SELECT count(*) FROM (SELECT DISTINCT subscription, position FROM applied) AS once'), 4 * 600)
assert.equal(await count('SELECT count(DISTINCT worker) FROM applied'), 2, 'both have worked')
console.log('worker-1 left, and worker-2 went on: 600 events for each of 4 subscriptions, none lost, none twice')
await pool.end()

function running(worker: CoordinatedWorker): string[] {
  return worker
    .status()
    .work.filter(({ phase }) => phase === 'running')
    .map(({ subscription }) => subscription)
}

async function appendEvents(number: number): Promise<void> {
  await pool.query('INSERT INTO events SELECT n + (SELECT count(*) FROM events) FROM generate_series(1, $1::int) AS n', [number])
}

async function count(sql: string): Promise<number> {
  return Number((await pool.query(sql)).rows[0].count)
}
