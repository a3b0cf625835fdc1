import { setTimeout as wait } from 'node:timers/promises'
import { verifyStoredToken } from '@es/coordination-postgres'
import { createDatabase, type TestDatabase } from '@es/test-server'
import pg from 'pg'
import { afterEach, beforeEach, expect, inject, test } from 'vitest'
import { prepareTables, withClient } from '../demo-database.js'
import { type Evidence, gatherEvidence } from '../evidence.js'
import { type BatchOptions, type BatchOutcome, runGuardedBatch } from './guarded-batch.js'
import { projectionOf } from './projections.js'

const subscription = 'country-revenue'
const projection = projectionOf(subscription)
/** One for each country. */
const ROWS = 10
let database: TestDatabase
let pool: pg.Pool

beforeEach(async () => {
  database = await createDatabase(inject('databaseUrl'))
  await prepareTables(database.url, { events: 250, subscriptions: [subscription] })
  pool = new pg.Pool({ connectionString: database.url })
})

afterEach(async () => {
  await pool.end()
  await database.drop()
})

function run(options: Partial<BatchOptions> = {}): Promise<BatchOutcome> {
  const defaults: BatchOptions = { worker: 'worker-1', fencingToken: 5n, size: 100, lost: new AbortController().signal }
  return runGuardedBatch(pool, projection, { ...defaults, ...options })
}

async function count(): Promise<Evidence | undefined> {
  const [evidence] = await withClient(database.url, gatherEvidence)
  return evidence
}

test('applies the log batch by batch, and then has caught up', async () => {
  expect(await run()).toEqual({ kind: 'committed', position: 100, events: 100 })
  expect(await run()).toEqual({ kind: 'committed', position: 200, events: 100 })
  expect(await run()).toEqual({ kind: 'committed', position: 250, events: 50 })
  expect(await run()).toEqual({ kind: 'caught_up', position: 250 })
  expect(await count()).toEqual({
    subscription,
    events: 250,
    checkpoint: 250,
    applied: 250,
    lost: 0,
    appliedTwice: 0,
    outOfOrder: 0,
    staleWrites: 0,
    writers: [{ worker: 'worker-1', token: 5n }],
    rows: ROWS,
    wrongRows: 0,
  })
})

test('G2: refuses a token smaller than the stored one, and writes nothing', async () => {
  await run({ fencingToken: 9n })
  const before = await count()
  expect(await run({ fencingToken: 8n })).toEqual({ kind: 'refused', storedToken: 9n })
  expect(await count()).toEqual(before)
})

test('G3: takes over from a smaller token, whose owner is shut out from then on', async () => {
  await run({ fencingToken: 5n })
  expect(await run({ fencingToken: 6n })).toMatchObject({ kind: 'committed' })
  expect(await run({ fencingToken: 5n })).toMatchObject({ kind: 'refused' })
})

test('G1: writes nothing when the claim is lost in the middle', async () => {
  const claim = new AbortController()
  expect(await run({ lost: claim.signal, beforeCheckpoint: async () => claim.abort() })).toEqual({ kind: 'abandoned' })
  expect(await run({ lost: claim.signal })).toEqual({ kind: 'abandoned' })
  expect(await count()).toMatchObject({ applied: 0, checkpoint: 0, wrongRows: ROWS })
})

test('G4: does not wait for a statement when the claim is lost', async () => {
  await withClient(database.url, async (other) => {
    await other.query('BEGIN')
    await other.query('SELECT FROM checkpoints FOR UPDATE')
    const claim = new AbortController()
    const batch = run({ lost: claim.signal })
    const waiting = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    await expect.poll(async () => (await pool.query(waiting)).rowCount).toBe(1)
    claim.abort()
    expect(await batch).toEqual({ kind: 'abandoned' })
  })
})

test('a connection that ends between two statements fails the batch, and nothing else', async () => {
  const beforeCheckpoint = async (): Promise<void> => {
    await withClient(database.url, (other) =>
      other.query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle in transaction'",
      ),
    )
    // Until the end of the connection was noticed, with no statement under way that could tell.
    await wait(50)
  }
  await expect(run({ beforeCheckpoint })).rejects.toThrow()
  expect(await run()).toMatchObject({ kind: 'committed', position: 100 })
})

test('G1: writes nothing when the work fails', async () => {
  const failing = run({ beforeCheckpoint: () => Promise.reject(new Error('out of paper')) })
  await expect(failing).rejects.toThrow('out of paper')
  expect(await count()).toMatchObject({ applied: 0, checkpoint: 0 })
})

test('two owners take turns: the second one sees what the first one committed', async () => {
  const outcomes = await Promise.all([run({ fencingToken: 5n }), run({ fencingToken: 5n }), run({ fencingToken: 5n })])
  expect(outcomes.map((outcome) => 'position' in outcome && outcome.position).sort()).toEqual([100, 200, 250])
  expect(await count()).toMatchObject({ applied: 250, appliedTwice: 0, lost: 0, wrongRows: 0 })
})

test('a refusal by a restored database is told from one by a later owner', async () => {
  const fromAnotherCluster = 2n ** 62n
  await pool.query('UPDATE checkpoints SET fencing_token = $1', [fromAnotherCluster])
  expect(await run()).toEqual({ kind: 'refused', storedToken: fromAnotherCluster })
  await expect(verifyStoredToken(pool, fromAnotherCluster)).rejects.toMatchObject({ code: 'stored_token_ahead' })
  await expect(verifyStoredToken(pool, 6n)).resolves.toBeUndefined()
})

test.for<[string, string, Partial<Evidence>]>([
  [
    'a duplicate in the ledger',
    "INSERT INTO applied (subscription, position, fencing_token, worker) VALUES ('country-revenue', 250, 5, 'worker-1')",
    { appliedTwice: 1, outOfOrder: 1 },
  ],
  ['a gap in the ledger', 'DELETE FROM applied WHERE position = 17', { lost: 1, applied: 249 }],
  [
    'a write under an old token',
    'UPDATE applied SET fencing_token = 4 WHERE position = 250',
    { staleWrites: 1, writers: [4n, 5n].map((token) => ({ worker: 'worker-1', token })) },
  ],
  ['a write by somebody else', "UPDATE applied SET worker = 'forger'", { writers: [{ worker: 'forger', token: 5n }] }],
  ['a wrong sum in the read model', "UPDATE read_model SET amount_cents = amount_cents + 1 WHERE key = 'AT'", { wrongRows: 1 }],
  ['a missing row', "DELETE FROM read_model WHERE key = 'AT'", { wrongRows: 1 }],
  ['a row that should not be', "INSERT INTO read_model VALUES ('country-revenue', 'XX', 1, 1, 1)", { wrongRows: 1, rows: ROWS + 1 }],
])('the evidence shows %s', async ([, forgery, expected]) => {
  while ((await run()).kind === 'committed');
  const before = await count()
  await pool.query(forgery)
  expect(await count()).toEqual({ ...before, ...expected })
})
