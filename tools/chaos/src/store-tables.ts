// The store of the cluster under test: an event log, a projection for each subscription, and a ledger of everything that was applied.

/**
 * - `events` is written by the feed alone. `key` is the feed's own number of an event: what was acknowledged is known by it, whatever became of the rest.
 * - `projections` does not forgive: it counts, sums and folds, so an event that is lost, repeated or out of order makes it differ from the truth. It is
 *   the checkpoint as well, with the fencing token that guards it.
 * - `ledger` has no unique constraint on purpose: an event that was applied twice shows there instead of being refused.
 */
export const CREATE_TABLES = `
  CREATE TABLE events (position bigint PRIMARY KEY, key bigint NOT NULL, amount bigint NOT NULL);
  CREATE TABLE projections (
    subscription text PRIMARY KEY,
    number bigint NOT NULL,
    position bigint NOT NULL DEFAULT 0,
    fencing_token bigint NOT NULL DEFAULT 0,
    events bigint NOT NULL DEFAULT 0,
    total numeric NOT NULL DEFAULT 0,
    fold numeric NOT NULL DEFAULT 0
  );
  CREATE TABLE ledger (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    subscription text NOT NULL,
    position bigint NOT NULL,
    fencing_token bigint NOT NULL,
    instance_id text NOT NULL,
    sent_at float8 NOT NULL
  )`

/** $1: subscriptions. Their numbers make their projections differ from each other. */
export const SEED_PROJECTIONS =
  'INSERT INTO projections (subscription, number) SELECT name, nr FROM unnest($1::text[]) WITH ORDINALITY AS s (name, nr)'

/** The modulus and the factor of the fold; see {@link folded}. */
export const FOLD_MODULUS = 2_305_843_009_213_693_951n
export const FOLD_FACTOR = 1_000_003n

/** One line of the event log. */
export interface StoredEvent {
  readonly position: bigint
  readonly amount: bigint
}

/** The fold of a projection after one more event: depends on every event before, and on their order. */
export function folded(fold: bigint, { position, amount }: StoredEvent, number: bigint): bigint {
  return (fold * FOLD_FACTOR + position + amount * number) % FOLD_MODULUS
}

/**
 * $1: keys. The position goes on from the end of the log; two statements at once (one of a feed that believes it has failed) collide on the primary
 * key, and one of them fails.
 */
export const APPEND_EVENTS = `
  INSERT INTO events (position, key, amount)
  SELECT (SELECT coalesce(max(position), 0) FROM events) + nr, key, key * 7919 % 10007
    FROM unnest($1::bigint[]) WITH ORDINALITY AS k (key, nr)`

/**
 * Puts the token down and reads the checkpoint in one: from here to the end of the transaction no other owner gets past this line. No row for whoever is
 * stale. $1: subscription, $2: fencing token.
 */
export const TAKE_CHECKPOINT = `
  UPDATE projections SET fencing_token = $2 WHERE subscription = $1 AND fencing_token <= $2
  RETURNING number, position, events, total, fold`

export const READ_STORED_TOKEN = 'SELECT fencing_token FROM projections WHERE subscription = $1'

/** $1: position, $2: number of events. */
export const READ_EVENTS = 'SELECT position, amount FROM events WHERE position > $1 ORDER BY position LIMIT $2'

/** $1: subscription, $2: positions, $3: fencing token, $4: instance, $5: when it was sent. */
export const WRITE_LEDGER = `
  INSERT INTO ledger (subscription, position, fencing_token, instance_id, sent_at)
  SELECT $1, position, $3, $4, $5 FROM unnest($2::bigint[]) WITH ORDINALITY AS p (position, nr) ORDER BY nr`

/** $1: subscription, $2: position, $3: events, $4: total, $5: fold. */
export const SAVE_PROJECTION = 'UPDATE projections SET position = $2, events = $3, total = $4, fold = $5 WHERE subscription = $1'
