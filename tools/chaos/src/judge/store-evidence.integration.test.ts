import { createDatabase, type TestDatabase } from '@es/test-server'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest'
import { APPEND_EVENTS, CREATE_TABLES, SEED_PROJECTIONS } from '../store-tables.js'
import { applyBatch } from '../worker/guarded-batch.js'
import { gatherEvidence, type StoreEvidence } from './store-evidence.js'

let database: TestDatabase
let client: pg.Client

/** Two subscriptions that have applied a log of 30 events, in two batches under two tokens. */
beforeEach(async () => {
  database = await createDatabase(inject('databaseUrl'))
  client = new pg.Client({ connectionString: database.url })
  await client.connect()
  await client.query(CREATE_TABLES)
  await client.query(SEED_PROJECTIONS, [['one', 'two']])
  await client.query(APPEND_EVENTS, [Array.from({ length: 30 }, (_, index) => index + 1)])
  for (const subscription of ['one', 'two']) {
    for (const fencingToken of [5n, 6n]) {
      const outcome = await applyBatch(client, { subscription, instanceId: 'a', fencingToken })
      expect(outcome).toEqual({ kind: 'applied', events: fencingToken === 5n ? 20 : 10 })
    }
  }
})

afterEach(async () => {
  await client.end()
  await database.drop()
})

const gather = (): Promise<StoreEvidence> => gatherEvidence(client, [{ from: 1, to: 30 }])
const fine = { position: 30, lost: 0, repeated: 0, outOfOrder: 0, staleWrites: 0, isTrue: true }

describe('the evidence', () => {
  it('says that all is well when it is', async () => {
    expect(await gather()).toEqual({
      log: { events: 30, missing: 0, acknowledged: 30, acknowledgedLost: 0 },
      subscriptions: [
        { subscription: 'one', ...fine },
        { subscription: 'two', ...fine },
      ],
    })
  })

  it.each([
    ['an event that was applied to no ledger', 'DELETE FROM ledger WHERE position = 7', { lost: 1, outOfOrder: 1 }],
    [
      'an event that was applied twice',
      `INSERT INTO ledger (subscription, position, fencing_token, instance_id, sent_at) VALUES ('one', 30, 6, 'b', 0)`,
      { repeated: 1, outOfOrder: 1 },
    ],
    ['a write under a smaller token', 'UPDATE ledger SET fencing_token = 4 WHERE position = 25', { staleWrites: 1 }],
    ['a wrong count', 'UPDATE projections SET events = events + 1', { isTrue: false }],
    ['a wrong sum', 'UPDATE projections SET total = total + 1', { isTrue: false }],
    ['a wrong order', 'UPDATE projections SET fold = fold + 1', { isTrue: false }],
    ['a checkpoint that is behind', 'UPDATE projections SET position = 29', { position: 29, isTrue: false }],
  ])('finds %s', async (_, damage, found) => {
    await client.query(
      `${damage}${damage.startsWith('INSERT') ? '' : `${damage.includes('WHERE') ? ' AND' : ' WHERE'} subscription = 'one'`}`,
    )
    const { subscriptions } = await gather()
    expect(subscriptions[0]).toEqual({ subscription: 'one', ...fine, ...found })
    expect(subscriptions[1]).toEqual({ subscription: 'two', ...fine })
  })

  it('finds events that were acknowledged and are gone, and holes in the log', async () => {
    await client.query('DELETE FROM events WHERE position IN (7, 30)')
    expect((await gather()).log).toEqual({ events: 28, missing: 1, acknowledged: 30, acknowledgedLost: 2 })
  })

  it('does not ask for what was never acknowledged', async () => {
    expect((await gatherEvidence(client, [{ from: 1, to: 3 }])).log).toMatchObject({ acknowledged: 3, acknowledgedLost: 0 })
  })
})

it('a batch of a stale owner is refused, and says by whose token', async () => {
  const outcome = await applyBatch(client, { subscription: 'one', instanceId: 'a', fencingToken: 5n })
  expect(outcome).toEqual({ kind: 'refused', storedToken: 6n })
})

it('a new owner shuts the one before out with its first batch, even if there is nothing to apply', async () => {
  expect(await applyBatch(client, { subscription: 'one', instanceId: 'b', fencingToken: 9n })).toEqual({ kind: 'applied', events: 0 })
  expect(await applyBatch(client, { subscription: 'one', instanceId: 'a', fencingToken: 8n })).toEqual({ kind: 'refused', storedToken: 9n })
})
