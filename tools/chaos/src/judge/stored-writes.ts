import type { WriteEvent } from '@es/coordination-testing'
import type { ClientBase } from 'pg'

// A row of the ledger was written by the transaction in its xmin, and never touched again.
const READ_LEDGER = `
  SELECT subscription, position, fencing_token, instance_id, sent_at, extract(epoch FROM pg_xact_commit_timestamp(xmin))::float8 AS committed_at
    FROM ledger ORDER BY committed_at, id`

interface LedgerRow {
  readonly subscription: string
  readonly position: string
  readonly fencing_token: string
  readonly instance_id: string
  readonly sent_at: number
  readonly committed_at: number
}

/**
 * The writes that the store accepted, for the checker. From the store and not from the workers: one that was killed may have committed without a chance
 * to record it.
 *
 * @param wallClockOffset see `wallClockOffset`.
 */
export async function readStoredWrites(client: ClientBase, wallClockOffset: number): Promise<readonly WriteEvent[]> {
  const { rows } = await client.query<LedgerRow>(READ_LEDGER)
  return rows.map((row) => ({
    type: 'event_applied',
    at: row.committed_at - wallClockOffset,
    sentAt: row.sent_at,
    instanceId: row.instance_id,
    subscription: row.subscription,
    position: Number(row.position),
    token: BigInt(row.fencing_token),
  }))
}
