import type { ClientBase } from 'pg'

/** What the database says after the run. Counted by SQL from the log, the ledger and the read model; nothing comes from the workers. */
export interface Evidence {
  /** Length of the log. */
  readonly events: number
  readonly checkpoint: number
  readonly checkpointToken: bigint
  /** Events of the log that were applied at least once. */
  readonly applied: number
  /** Events of the log that were never applied. */
  readonly lost: number
  /** Events that were applied more than once. */
  readonly appliedTwice: number
  /** Applications that were not behind the one before them in the log. */
  readonly outOfOrder: number
  /** Applications under a smaller token than the one before them: writes of a stale leader. */
  readonly staleWrites: number
  /** The tokens under which events were applied, ascending. */
  readonly tokens: readonly bigint[]
  readonly orders: number
  /** Orders whose row in the read model is missing, superfluous or different from what the log says. */
  readonly wrongOrders: number
}

const COUNT = `
  WITH ledger AS (
         SELECT e.position, count(a.id) AS times
           FROM order_events AS e LEFT JOIN applied AS a ON a.position = e.position AND a.subscription = $1
          GROUP BY e.position),
       steps AS (
         SELECT position, fencing_token,
                lag(position) OVER in_order AS position_before,
                lag(fencing_token) OVER in_order AS token_before
           FROM applied WHERE subscription = $1
         WINDOW in_order AS (ORDER BY id))
  SELECT (SELECT count(*) FROM order_events) AS events,
         c.position AS checkpoint,
         c.fencing_token AS checkpoint_token,
         (SELECT count(*) FROM ledger WHERE times > 0) AS applied,
         (SELECT count(*) FROM ledger WHERE times = 0) AS lost,
         (SELECT count(*) FROM ledger WHERE times > 1) AS applied_twice,
         (SELECT count(*) FROM steps WHERE position <= position_before) AS out_of_order,
         (SELECT count(*) FROM steps WHERE fencing_token < token_before) AS stale_writes,
         (SELECT coalesce(array_agg(t::text ORDER BY t), '{}') FROM (SELECT DISTINCT fencing_token AS t FROM steps) AS distinct_tokens) AS tokens
    FROM checkpoints AS c WHERE c.subscription = $1`

/** The truth is one aggregate over the log, written without a look at the projection's code. */
const COMPARE_WITH_TRUTH = `
  WITH truth AS (
         SELECT order_id,
                (array_agg(CASE type WHEN 'placed' THEN 'new' WHEN 'item_added' THEN 'open' ELSE type END ORDER BY position DESC))[1] AS status,
                count(*) FILTER (WHERE type = 'item_added') AS items,
                sum(amount_cents)::bigint AS total_cents,
                count(*) AS events,
                max(position) AS last_position
           FROM order_events GROUP BY order_id)
  SELECT count(*) AS orders,
         count(*) FILTER (WHERE o.order_id IS NULL OR t.order_id IS NULL OR
           (o.status, o.items, o.total_cents, o.events, o.last_position) IS DISTINCT FROM
           (t.status, t.items, t.total_cents, t.events, t.last_position)) AS wrong_orders
    FROM truth AS t FULL JOIN orders AS o USING (order_id)`

/** Counts, when all workers have left. */
export async function gatherEvidence(client: ClientBase, subscription: string): Promise<Evidence> {
  const [counts] = (await client.query<Record<string, string> & { tokens: string[] }>(COUNT, [subscription])).rows
  const [comparison] = (await client.query<Record<string, string>>(COMPARE_WITH_TRUTH)).rows
  if (!counts || !comparison) throw new Error(`There is no checkpoint of the subscription ${subscription}`)
  return {
    events: Number(counts.events),
    checkpoint: Number(counts.checkpoint),
    checkpointToken: BigInt(counts.checkpoint_token ?? 0),
    applied: Number(counts.applied),
    lost: Number(counts.lost),
    appliedTwice: Number(counts.applied_twice),
    outOfOrder: Number(counts.out_of_order),
    staleWrites: Number(counts.stale_writes),
    tokens: counts.tokens.map(BigInt),
    orders: Number(comparison.orders),
    wrongOrders: Number(comparison.wrong_orders),
  }
}
