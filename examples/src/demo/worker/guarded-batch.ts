import type { ClientBase, Pool } from 'pg'
import type { OrderEvent, Projection } from './projections.js'

/** What became of one batch. */
export type BatchOutcome =
  | { readonly kind: 'committed'; readonly position: number; readonly events: number }
  /** There was nothing after the checkpoint. */
  | { readonly kind: 'caught_up'; readonly position: number }
  /** A later owner has written already: whoever holds a smaller token is stale. */
  | { readonly kind: 'refused'; readonly storedToken: bigint }
  /** The claim was lost in the middle; nothing was written. */
  | { readonly kind: 'abandoned' }

/** In whose name a batch is written. */
export interface BatchOptions {
  readonly worker: string
  /** Token of the claim. */
  readonly fencingToken: bigint
  /** Most events of the batch. */
  readonly size: number
  /** Aborts when the claim is lost; the batch stops there and then. */
  readonly lost: AbortSignal
  /** Runs inside the transaction when everything but the checkpoint is written: the demo's slow work. */
  readonly beforeCheckpoint?: () => Promise<void>
}

// FOR UPDATE makes owners take turns: whoever comes second sees what the first one committed, its token included.
const LOCK_CHECKPOINT = 'SELECT position, fencing_token FROM checkpoints WHERE subscription = $1 FOR UPDATE'
const READ_EVENTS =
  'SELECT position, type, order_id, customer, product, country, day, amount_cents FROM order_events WHERE position > $1 ORDER BY position LIMIT $2'
const RECORD_APPLIED =
  'INSERT INTO applied (subscription, position, fencing_token, worker) SELECT $1, position, $3, $4 FROM unnest($2::bigint[]) WITH ORDINALITY AS e (position, nr) ORDER BY nr'
const SAVE_CHECKPOINT = 'UPDATE checkpoints SET position = $2, fencing_token = $3 WHERE subscription = $1'

/**
 * Applies the events after the checkpoint, and moves the checkpoint, in one transaction that the fencing token guards.
 *
 * - G1. The read model and the checkpoint change together or not at all, so a process may die anywhere.
 * - G2. A token that is larger than ours refuses the batch: a later owner has written, whatever we believe.
 * - G3. A smaller one is replaced, which shuts its owner out from then on.
 * - G4. Whoever loses the claim does not wait for the statement under way: its connection is ended, and with it the transaction.
 *
 * @throws the driver's error; nothing was written then, unless the connection broke during COMMIT.
 */
export async function runGuardedBatch(pool: Pool, projection: Projection, options: BatchOptions): Promise<BatchOutcome> {
  const { lost } = options
  if (lost.aborted) return { kind: 'abandoned' }
  const client = await pool.connect()
  let isReleased = false
  const release = (isBroken: boolean): void => {
    if (isReleased) return
    isReleased = true
    client.off('error', ignore)
    client.release(isBroken)
  }
  // The pool listens to idle connections alone. One that ends while it is in use, between two statements, would end the process; the next
  // statement tells anyhow.
  client.on('error', ignore)
  const onLost = (): void => release(true)
  lost.addEventListener('abort', onLost)
  try {
    await client.query('BEGIN')
    const outcome = await write(client, projection, options)
    await client.query(outcome.kind === 'committed' ? 'COMMIT' : 'ROLLBACK')
    release(false)
    return outcome
  } catch (error) {
    // Ending the connection rolls back, even where ROLLBACK could not be sent.
    release(true)
    if (lost.aborted) return { kind: 'abandoned' }
    throw error
  } finally {
    lost.removeEventListener('abort', onLost)
  }
}

function ignore(): void {}

async function write(client: ClientBase, projection: Projection, options: BatchOptions): Promise<BatchOutcome> {
  const { worker, fencingToken, size, lost, beforeCheckpoint } = options
  const { subscription } = projection
  const { rows } = await client.query<{ position: string; fencing_token: string }>(LOCK_CHECKPOINT, [subscription])
  const checkpoint = rows[0]
  if (!checkpoint) throw new Error(`There is no checkpoint of the subscription ${subscription}`)
  const storedToken = BigInt(checkpoint.fencing_token)
  if (storedToken > fencingToken) return { kind: 'refused', storedToken }

  const events = await readEvents(client, checkpoint.position, size)
  const last = events.at(-1)
  if (!last) return { kind: 'caught_up', position: Number(checkpoint.position) }

  await projection.apply(client, events)
  await client.query(RECORD_APPLIED, [subscription, events.map((event) => event.position), fencingToken, worker])
  await beforeCheckpoint?.()
  if (lost.aborted) return { kind: 'abandoned' }

  await client.query(SAVE_CHECKPOINT, [subscription, last.position, fencingToken])
  return lost.aborted ? { kind: 'abandoned' } : { kind: 'committed', position: last.position, events: events.length }
}

type EventRow = Omit<OrderEvent, 'position' | 'orderId' | 'amountCents'> & {
  readonly position: string
  readonly order_id: string
  readonly amount_cents: string
}

async function readEvents(client: ClientBase, afterPosition: string, limit: number): Promise<OrderEvent[]> {
  const { rows } = await client.query<EventRow>(READ_EVENTS, [afterPosition, limit])
  return rows.map(({ position, order_id, amount_cents, ...rest }) => ({
    ...rest,
    position: Number(position),
    orderId: order_id,
    amountCents: Number(amount_cents),
  }))
}
