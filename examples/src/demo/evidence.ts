import type { ClientBase } from 'pg'

/** What the database says about one subscription. Counted by SQL from the log, the ledger and the read model; nothing comes from the workers. */
export interface Evidence {
  readonly subscription: string
  /** Length of the log. */
  readonly events: number
  readonly checkpoint: number
  /** Events of the log that were applied at least once. */
  readonly applied: number
  /** Events of the log that were never applied. */
  readonly lost: number
  /** Events that were applied more than once. */
  readonly appliedTwice: number
  /** Applications that were not behind the one before them in the log. */
  readonly outOfOrder: number
  /** Applications under a smaller token than the one before them: writes of a stale owner. */
  readonly staleWrites: number
  /** Who applied events, and under which token. */
  readonly writers: readonly { readonly worker: string; readonly token: bigint }[]
  readonly rows: number
  /** Rows of the read model that are missing, superfluous or different from what the log says. */
  readonly wrongRows: number
}

const COUNT = `
  WITH ledger AS (
         SELECT c.subscription, e.position, count(a.id) AS times
           FROM checkpoints AS c CROSS JOIN order_events AS e
           LEFT JOIN applied AS a ON a.subscription = c.subscription AND a.position = e.position
          GROUP BY c.subscription, e.position),
       tally AS (
         SELECT subscription, count(*) AS events, count(*) FILTER (WHERE times > 0) AS applied,
                count(*) FILTER (WHERE times = 0) AS lost, count(*) FILTER (WHERE times > 1) AS applied_twice
           FROM ledger GROUP BY subscription),
       step AS (
         SELECT subscription, position, fencing_token,
                lag(position) OVER in_order AS position_before, lag(fencing_token) OVER in_order AS token_before
           FROM applied WINDOW in_order AS (PARTITION BY subscription ORDER BY id)),
       order_of_work AS (
         SELECT subscription, count(*) FILTER (WHERE position <= position_before) AS out_of_order,
                count(*) FILTER (WHERE fencing_token < token_before) AS stale_writes
           FROM step GROUP BY subscription)
  SELECT subscription, c.position AS checkpoint, events, applied, lost, applied_twice,
         coalesce(out_of_order, 0) AS out_of_order, coalesce(stale_writes, 0) AS stale_writes
    FROM checkpoints AS c LEFT JOIN tally USING (subscription) LEFT JOIN order_of_work USING (subscription)
   ORDER BY subscription`

const WRITERS = 'SELECT DISTINCT subscription, worker, fencing_token AS token FROM applied ORDER BY subscription, fencing_token'

/** What every read model should say, as aggregates over the log: written without a look at the code of the projections. */
const TRUTH: Readonly<Record<string, string>> = {
  'order-totals': 'order_id FROM order_events',
  'customer-spend': 'customer FROM order_events',
  'product-sales': "product FROM order_events WHERE type = 'item_added'",
  'country-revenue': "country FROM order_events WHERE type = 'item_added'",
  'daily-revenue': "day FROM order_events WHERE type = 'item_added'",
  'order-funnel': 'type FROM order_events',
  'new-orders': "day FROM order_events WHERE type = 'placed'",
  'payments-by-day': "day FROM order_events WHERE type = 'paid'",
  'payments-by-country': "country FROM order_events WHERE type = 'paid'",
  'shipments-by-day': "day FROM order_events WHERE type = 'shipped'",
  'shipments-by-country': "country FROM order_events WHERE type = 'shipped'",
  'lost-customers': "customer FROM order_events WHERE type = 'cancelled'",
}

function compareWithTruth(truth: string): string {
  const [key, from] = truth.split(' FROM ')
  return `
    WITH truth AS (
           SELECT ${key} AS key, count(*) AS events, sum(amount_cents)::bigint AS amount_cents, max(position) AS last_position
             FROM ${from} GROUP BY 1),
         shown AS (SELECT key, events, amount_cents, last_position FROM read_model WHERE subscription = $1)
    SELECT count(*) AS rows,
           count(*) FILTER (WHERE t.key IS NULL OR s.key IS NULL OR
             (s.events, s.amount_cents, s.last_position) IS DISTINCT FROM (t.events, t.amount_cents, t.last_position)) AS wrong_rows
      FROM truth AS t FULL JOIN shown AS s USING (key)`
}

/** Counts, when all workers have left: one piece of evidence for each checkpoint. */
export async function gatherEvidence(client: ClientBase): Promise<readonly Evidence[]> {
  const { rows: counts } = await client.query<Record<string, string> & { subscription: string }>(COUNT)
  const { rows: writers } = await client.query<{ subscription: string; worker: string; token: string }>(WRITERS)
  const gathered: Evidence[] = []
  for (const count of counts) {
    const { subscription } = count
    const truth = TRUTH[subscription]
    if (truth === undefined) throw new Error(`It is not known what ${subscription} should show`)
    const [comparison] = (await client.query<Record<string, string>>(compareWithTruth(truth), [subscription])).rows
    gathered.push({
      subscription,
      events: Number(count.events),
      checkpoint: Number(count.checkpoint),
      applied: Number(count.applied),
      lost: Number(count.lost),
      appliedTwice: Number(count.applied_twice),
      outOfOrder: Number(count.out_of_order),
      staleWrites: Number(count.stale_writes),
      writers: writers
        .filter((writer) => writer.subscription === subscription)
        .map(({ worker, token }) => ({ worker, token: BigInt(token) })),
      rows: Number(comparison?.rows),
      wrongRows: Number(comparison?.wrong_rows),
    })
  }
  return gathered
}
