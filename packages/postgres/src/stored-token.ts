import { CoordinationError } from '@es/coordination-core'

/** Anything that runs a query the way `pg` does: a client, a pool, or a client of a pool. */
export interface Queryable {
  query(text: string): Promise<{ readonly rows: readonly Record<string, unknown>[] }>
}

/**
 * Tells a stale owner from a restored database, for use when a guarded write was refused because the stored token is larger.
 *
 * Tokens are transaction ids of the cluster. A dump restored into a *new* cluster brings stored tokens that the new cluster has not reached yet, so
 * every guarded write of every owner would be refused for a long time. Resolves when `storedToken` may stem from this cluster: then the writer is
 * stale and must stop. (After a failover within a cluster, counter and stored tokens lose the same tail, and stay consistent.)
 *
 * @throws CoordinationError `stored_token_ahead` when `storedToken` cannot stem from this cluster; the message names the remedy.
 */
export async function verifyStoredToken(db: Queryable, storedToken: bigint): Promise<void> {
  const { rows } = await db.query('SELECT pg_snapshot_xmax(pg_current_snapshot())::text AS next_token')
  const nextToken = BigInt(String(rows[0]?.next_token))
  if (storedToken < nextToken) return
  throw new CoordinationError(
    'stored_token_ahead',
    `The stored fencing token ${storedToken} is ahead of this database cluster, which is at ${nextToken}: the data was restored from another cluster. ` +
      'With all workers stopped, set the stored tokens to 0, then start the workers again',
  )
}
