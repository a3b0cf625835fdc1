import { verifyStoredToken } from '@es/coordination-postgres'
import { createDatabase, type TestDatabase } from '@es/test-server'
import pg from 'pg'
import { afterEach, beforeEach, expect, inject, test } from 'vitest'
import { prepareTables } from '../demo-database.js'
import { type Evidence, gatherEvidence } from '../evidence.js'
import { type BatchOptions, type BatchOutcome, runGuardedBatch } from './guarded-batch.js'
import { ordersProjection } from './orders-projection.js'

const { subscription } = ordersProjection
let database: TestDatabase
let pool: pg.Pool

beforeEach(async () => {
  database = await createDatabase(inject('databaseUrl'))
  await prepareTables(database.url, { events: 250, subscription })
  pool = new pg.Pool({ connectionString: database.url })
})

afterEach(async () => {
  await pool.end()
  await database.drop()
})

function run(options: Partial<BatchOptions> = {}): Promise<BatchOutcome> {
  const defaults: BatchOptions = { worker: 'worker-1', fencingToken: 5n, size: 100, signal: new AbortController().signal }
  return runGuardedBatch(pool, ordersProjection, { ...defaults, ...options })
}

async function count(): Promise<Evidence> {
  const client = await pool.connect()
  try {
    return await gatherEvidence(client, subscription)
  } finally {
    client.release()
  }
}

test('applies the log batch by batch, and then has caught up', async () => {
  expect(await run()).toEqual({ kind: 'committed', position: 100, events: 100 })
  expect(await run()).toEqual({ kind: 'committed', position: 200, events: 100 })
  expect(await run()).toEqual({ kind: 'committed', position: 250, events: 50 })
  expect(await run()).toEqual({ kind: 'caught_up', position: 250 })
  expect(await count()).toEqual({
    events: 250,
    checkpoint: 250,
    checkpointToken: 5n,
    applied: 250,
    lost: 0,
    appliedTwice: 0,
    outOfOrder: 0,
    staleWrites: 0,
    tokens: [5n],
    orders: 60,
    wrongOrders: 0,
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

test('G1: writes nothing when the term ends in the middle', async () => {
  const term = new AbortController()
  const outcome = await run({ signal: term.signal, beforeCheckpoint: async () => term.abort() })
  expect(outcome).toEqual({ kind: 'abandoned' })
  expect(await count()).toMatchObject({ applied: 0, checkpoint: 0, wrongOrders: 60 })
})

test('G1: writes nothing when the work fails', async () => {
  const failing = run({ beforeCheckpoint: () => Promise.reject(new Error('out of paper')) })
  await expect(failing).rejects.toThrow('out of paper')
  expect(await count()).toMatchObject({ applied: 0, checkpoint: 0 })
})

test('two owners take turns: the second one sees what the first one committed', async () => {
  const outcomes = await Promise.all([run({ fencingToken: 5n }), run({ fencingToken: 5n }), run({ fencingToken: 5n })])
  expect(outcomes.map((outcome) => 'position' in outcome && outcome.position).sort()).toEqual([100, 200, 250])
  expect(await count()).toMatchObject({ applied: 250, appliedTwice: 0, lost: 0, wrongOrders: 0 })
})

test('a refusal by a restored database is told from one by a later leader', async () => {
  const fromAnotherCluster = 2n ** 62n
  await pool.query('UPDATE checkpoints SET fencing_token = $1', [fromAnotherCluster])
  expect(await run()).toEqual({ kind: 'refused', storedToken: fromAnotherCluster })
  await expect(verifyStoredToken(pool, fromAnotherCluster)).rejects.toMatchObject({ code: 'stored_token_ahead' })
  await expect(verifyStoredToken(pool, 6n)).resolves.toBeUndefined()
})

test.for<[string, string, Partial<Evidence>]>([
  [
    'a duplicate in the ledger',
    "INSERT INTO applied (subscription, position, fencing_token, worker) VALUES ('orders', 250, 5, 'forger')",
    { appliedTwice: 1, outOfOrder: 1 },
  ],
  ['a gap in the ledger', 'DELETE FROM applied WHERE position = 17', { lost: 1, applied: 249 }],
  ['a write under an old token', 'UPDATE applied SET fencing_token = 4 WHERE position = 250', { staleWrites: 1, tokens: [4n, 5n] }],
  ['a wrong sum in the read model', 'UPDATE orders SET total_cents = total_cents + 1 WHERE order_id = 3', { wrongOrders: 1 }],
  ['a missing order', 'DELETE FROM orders WHERE order_id = 3', { wrongOrders: 1 }],
  [
    'an order that never was',
    "INSERT INTO orders (order_id, status, items, total_cents, events, last_position) VALUES (999, 'new', 0, 0, 1, 1)",
    { wrongOrders: 1, orders: 61 },
  ],
])('the evidence shows %s', async ([, forgery, expected]) => {
  while ((await run()).kind === 'committed');
  const before = await count()
  await pool.query(forgery)
  expect(await count()).toEqual({ ...before, ...expected })
})
