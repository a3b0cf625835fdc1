import type { ClientBase, Pool } from 'pg'
import type { OrderEvent, Projection } from './orders-projection.js'

/** What became of one batch. */
export type BatchOutcome =
  | { readonly kind: 'committed'; readonly position: number; readonly events: number }
  /** There was nothing after the checkpoint. */
  | { readonly kind: 'caught_up'; readonly position: number }
  /** A later leader has written already: whoever holds a smaller token is stale. */
  | { readonly kind: 'refused'; readonly storedToken: bigint }
  /** The term ended in the middle; nothing was written. */
  | { readonly kind: 'abandoned' }

/** In whose name a batch is written. */
export interface BatchOptions {
  readonly worker: string
  /** Token of the present term. */
  readonly fencingToken: bigint
  /** Most events of the batch. */
  readonly size: number
  /** Aborts when the term ends; the batch stops at its next step. */
  readonly signal: AbortSignal
  /** Runs inside the transaction when everything but the checkpoint is written: the demo's slow work. */
  readonly beforeCheckpoint?: () => Promise<void>
}

// FOR UPDATE makes owners take turns: whoever comes second sees what the first one committed, its token included.
const LOCK_CHECKPOINT = 'SELECT position, fencing_token FROM checkpoints WHERE subscription = $1 FOR UPDATE'
const READ_EVENTS = 'SELECT position, order_id, type, amount_cents FROM order_events WHERE position > $1 ORDER BY position LIMIT $2'
const RECORD_APPLIED =
  'INSERT INTO applied (subscription, position, fencing_token, worker) SELECT $1, position, $3, $4 FROM unnest($2::bigint[]) WITH ORDINALITY AS e (position, nr) ORDER BY nr'
const SAVE_CHECKPOINT = 'UPDATE checkpoints SET position = $2, fencing_token = $3 WHERE subscription = $1'

/**
 * Applies the events after the checkpoint, and moves the checkpoint, in one transaction that the fencing token guards.
 *
 * - G1. The read model and the checkpoint change together or not at all, so a process may die anywhere.
 * - G2. A token that is larger than ours refuses the batch: a later leader has written, whatever our elector believes.
 * - G3. A smaller one is replaced, which shuts its owner out from then on.
 *
 * @throws the driver's error; nothing was written then, unless the connection broke during COMMIT.
 */
export async function runGuardedBatch(pool: Pool, projection: Projection, options: BatchOptions): Promise<BatchOutcome> {
  const client = await pool.connect()
  try {
    await client.query('BEGIN')
    const outcome = await write(client, projection, options)
    await client.query(outcome.kind === 'committed' ? 'COMMIT' : 'ROLLBACK')
    client.release()
    return outcome
  } catch (error) {
    // Ending the connection rolls back, even where ROLLBACK could not be sent.
    client.release(true)
    throw error
  }
}

async function write(client: ClientBase, projection: Projection, options: BatchOptions): Promise<BatchOutcome> {
  const { worker, fencingToken, size, signal, beforeCheckpoint } = options
  const { subscription } = projection
  const { rows } = await client.query<{ position: string; fencing_token: string }>(LOCK_CHECKPOINT, [subscription])
  const checkpoint = rows[0]
  if (!checkpoint) throw new Error(`There is no checkpoint of the subscription ${subscription}`)
  const storedToken = BigInt(checkpoint.fencing_token)
  if (storedToken > fencingToken) return { kind: 'refused', storedToken }
  if (signal.aborted) return { kind: 'abandoned' }

  const events = await readEvents(client, checkpoint.position, size)
  const last = events.at(-1)
  if (!last) return { kind: 'caught_up', position: Number(checkpoint.position) }
  if (signal.aborted) return { kind: 'abandoned' }

  await projection.apply(client, events)
  await client.query(RECORD_APPLIED, [subscription, events.map((event) => event.position), fencingToken, worker])
  await beforeCheckpoint?.()
  if (signal.aborted) return { kind: 'abandoned' }

  await client.query(SAVE_CHECKPOINT, [subscription, last.position, fencingToken])
  return signal.aborted ? { kind: 'abandoned' } : { kind: 'committed', position: last.position, events: events.length }
}

async function readEvents(client: ClientBase, afterPosition: string, limit: number): Promise<OrderEvent[]> {
  const { rows } = await client.query<{ position: string; order_id: string; type: OrderEvent['type']; amount_cents: string }>(READ_EVENTS, [
    afterPosition,
    limit,
  ])
  return rows.map((row) => ({
    position: Number(row.position),
    orderId: row.order_id,
    type: row.type,
    amountCents: Number(row.amount_cents),
  }))
}
