// Tables of the demo, and what is written to the event log.

/**
 * - `applied` is the evidence: one row for every application of an event to a subscription, in the transaction that applied it. It has no
 *   unique constraint on purpose, so that an event applied twice *shows* instead of being refused; its `id` is the order of application.
 * - `read_model` does not forgive: it counts and sums, so a lost or repeated event shows there as well.
 */
export const CREATE_TABLES = `
  CREATE TABLE order_events (
    position bigint PRIMARY KEY,
    type text NOT NULL,
    order_id text NOT NULL,
    customer text NOT NULL,
    product text NOT NULL,
    country text NOT NULL,
    day text NOT NULL,
    amount_cents bigint NOT NULL
  );
  CREATE TABLE read_model (
    subscription text NOT NULL,
    key text NOT NULL,
    events bigint NOT NULL,
    amount_cents bigint NOT NULL,
    last_position bigint NOT NULL,
    PRIMARY KEY (subscription, key)
  );
  CREATE TABLE checkpoints (
    subscription text PRIMARY KEY,
    position bigint NOT NULL,
    fencing_token bigint NOT NULL
  );
  CREATE TABLE applied (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    subscription text NOT NULL,
    position bigint NOT NULL,
    fencing_token bigint NOT NULL,
    worker text NOT NULL
  )`

/** $1: subscriptions. */
export const SEED_CHECKPOINTS = `
  INSERT INTO checkpoints (subscription, position, fencing_token) SELECT name, 0, 0 FROM unnest($1::text[]) AS name`

/**
 * $1: number of events to append. Everything follows from the position. Twenty orders at a time go through five steps each, side by side, so that
 * orders span batches. One writer alone appends, so positions become visible in order.
 */
export const APPEND_EVENTS = `
  WITH log_end AS (SELECT coalesce(max(position), 0) AS position FROM order_events),
       step AS (SELECT n, n / 100 * 20 + n % 20 + 1 AS order_nr, n % 100 / 20 AS step
                  FROM log_end, generate_series(log_end.position, log_end.position + $1::bigint - 1) AS n)
  INSERT INTO order_events (position, type, order_id, customer, product, country, day, amount_cents)
  SELECT n + 1,
         CASE step
           WHEN 0 THEN 'placed'
           WHEN 1 THEN 'item_added'
           WHEN 2 THEN 'item_added'
           WHEN 3 THEN 'paid'
           ELSE CASE WHEN n % 7 = 0 THEN 'cancelled' ELSE 'shipped' END
         END,
         'order-' || order_nr,
         'customer-' || order_nr * 31 % 97,
         'product-' || n * 7 % 40,
         (ARRAY['AT', 'BR', 'CA', 'DE', 'FR', 'IN', 'JP', 'KE', 'NZ', 'US'])[order_nr % 10 + 1],
         'day-' || n / 500 + 1,
         CASE WHEN step IN (1, 2) THEN 100 + n * 7919 % 9000 ELSE 0 END
    FROM step`

export const LOG_END = 'SELECT coalesce(max(position), 0) AS position FROM order_events'
