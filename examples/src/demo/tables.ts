// Tables of the demo, and what is in them at the start.

/**
 * - `applied` is the evidence: one row for every application of an event, in the transaction that applied it. It has no unique
 *   constraint on purpose, so that an event applied twice *shows* instead of being refused; its `id` is the order of application.
 * - `orders` is a read model that does not forgive: it counts and sums, so a lost or repeated event shows there as well.
 */
export const CREATE_TABLES = `
  CREATE TABLE order_events (
    position bigint PRIMARY KEY,
    order_id bigint NOT NULL,
    type text NOT NULL,
    amount_cents bigint NOT NULL
  );
  CREATE TABLE orders (
    order_id bigint PRIMARY KEY,
    status text NOT NULL,
    items bigint NOT NULL,
    total_cents bigint NOT NULL,
    events bigint NOT NULL,
    last_position bigint NOT NULL
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

/** $1: number of events. Twenty orders at a time go through five steps each, side by side, so that orders span batches. */
export const SEED_EVENTS = `
  INSERT INTO order_events (position, order_id, type, amount_cents)
  SELECT n + 1,
         n / 100 * 20 + n % 20 + 1,
         CASE n % 100 / 20
           WHEN 0 THEN 'placed'
           WHEN 1 THEN 'item_added'
           WHEN 2 THEN 'item_added'
           WHEN 3 THEN 'paid'
           ELSE CASE WHEN n % 7 = 0 THEN 'cancelled' ELSE 'shipped' END
         END,
         CASE WHEN n % 100 / 20 IN (1, 2) THEN 100 + n * 7919 % 9000 ELSE 0 END
    FROM generate_series(0::bigint, $1::bigint - 1) AS n`

/** $1: subscription. */
export const SEED_CHECKPOINT = 'INSERT INTO checkpoints (subscription, position, fencing_token) VALUES ($1, 0, 0)'
