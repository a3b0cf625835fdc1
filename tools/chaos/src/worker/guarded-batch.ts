import type { ClientBase } from 'pg'
import { hostSeconds } from '../host-clock.js'
import {
  folded,
  READ_EVENTS,
  READ_STORED_TOKEN,
  SAVE_PROJECTION,
  type StoredEvent,
  TAKE_CHECKPOINT,
  WRITE_LEDGER,
} from '../store-tables.js'

/** In whose name a batch is written. */
export interface BatchOwner {
  readonly subscription: string
  readonly instanceId: string
  readonly fencingToken: bigint
}

/** What became of a batch. */
export type BatchOutcome =
  | { readonly kind: 'applied'; readonly events: number }
  /** A later owner has written already. */
  | { readonly kind: 'refused'; readonly storedToken: bigint }

/** A projection as stored. */
export interface Projection {
  readonly number: bigint
  readonly position: bigint
  readonly events: bigint
  readonly total: bigint
  readonly fold: bigint
}

const BATCH_SIZE = 20

/** Applies the next events to the projection, inside a transaction of the caller that must be rolled back when the claim is lost before its end. */
export async function applyBatch(client: ClientBase, owner: BatchOwner): Promise<BatchOutcome> {
  const { subscription, fencingToken } = owner
  const { rows } = await client.query(TAKE_CHECKPOINT, [subscription, fencingToken])
  const row = rows[0]
  if (row === undefined) {
    const stored = await client.query<{ fencing_token: string }>(READ_STORED_TOKEN, [subscription])
    return { kind: 'refused', storedToken: BigInt(stored.rows[0]?.fencing_token ?? 0) }
  }
  const events = await writeOn(client, owner, readProjection(row))
  return { kind: 'applied', events: Number(events.events - BigInt(row.events)) }
}

/** Applies the events behind `projection`, whatever is stored; returns how it is then. */
export async function writeOn(client: ClientBase, owner: BatchOwner, projection: Projection): Promise<Projection> {
  const { subscription, fencingToken, instanceId } = owner
  const { rows } = await client.query<{ position: string; amount: string }>(READ_EVENTS, [projection.position, BATCH_SIZE])
  if (rows.length === 0) return projection
  const events = rows.map((row): StoredEvent => ({ position: BigInt(row.position), amount: BigInt(row.amount) }))
  const next = events.reduce(after, projection)
  // Taken while no other owner can be in its transaction: so the order of these times is the order in which transactions take effect.
  const sentAt = hostSeconds()
  await client.query(WRITE_LEDGER, [subscription, events.map(({ position }) => position), fencingToken, instanceId, sentAt])
  await client.query(SAVE_PROJECTION, [subscription, next.position, next.events, next.total, next.fold])
  return next
}

export function readProjection(row: Readonly<Record<keyof Projection, string>>): Projection {
  const { number, position, events, total, fold } = row
  return { number: BigInt(number), position: BigInt(position), events: BigInt(events), total: BigInt(total), fold: BigInt(fold) }
}

function after({ number, events, total, fold }: Projection, event: StoredEvent): Projection {
  return { number, position: event.position, events: events + 1n, total: total + event.amount, fold: folded(fold, event, number) }
}
