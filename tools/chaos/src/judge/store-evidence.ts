import type { ClientBase } from 'pg'
import type { Acknowledged } from '../feed/feed-settings.js'
import { FOLD_FACTOR, FOLD_MODULUS } from '../store-tables.js'

/** What the store says; counted by SQL from log, ledger and projections, with no look at what workers say or at their code. */
export interface StoreEvidence {
  readonly log: LogEvidence
  readonly subscriptions: readonly SubscriptionEvidence[]
}

/** The event log. */
interface LogEvidence {
  readonly events: number
  /** Positions between the first and the last that are not there. */
  readonly missing: number
  /** Events that the server had acknowledged. */
  readonly acknowledged: number
  /** Those of them that are not in the log. */
  readonly acknowledgedLost: number
}

/** One subscription. */
export interface SubscriptionEvidence {
  readonly subscription: string
  readonly position: number
  /** Events of the log that were never applied. */
  readonly lost: number
  /** Applications of an event after its first. */
  readonly repeated: number
  /** Applications that were not of the event behind the one before. */
  readonly outOfOrder: number
  /** Applications under a smaller token than the one before. */
  readonly staleWrites: number
  /** Whether count, sum, fold and position are those of the log. */
  readonly isTrue: boolean
}

const READ_LOG = `
  SELECT count(*)::int AS events, (coalesce(max(position), 0) - count(*))::int AS missing,
         (SELECT count(*)::int FROM acknowledged) AS acknowledged,
         (SELECT count(*)::int FROM acknowledged AS a WHERE NOT EXISTS (SELECT FROM events AS e WHERE e.key = a.key)) AS acknowledged_lost
    FROM events`

// The fold once more, in SQL: what workers computed in another language and in many pieces has to come out the same.
const PREPARE = `
  CREATE FUNCTION pg_temp.fold_step(numeric, bigint, numeric) RETURNS numeric LANGUAGE sql IMMUTABLE
    AS 'SELECT mod($1 * ${FOLD_FACTOR} + $2 + $3, ${FOLD_MODULUS})';
  CREATE AGGREGATE pg_temp.fold(bigint, numeric) (sfunc = pg_temp.fold_step, stype = numeric, initcond = '0');
  CREATE TEMPORARY TABLE acknowledged (key bigint PRIMARY KEY);
  CREATE INDEX ON events (key)`

const NOTE_ACKNOWLEDGED = `
  INSERT INTO acknowledged SELECT key FROM unnest($1::bigint[], $2::bigint[]) AS range (first, last), generate_series(first, last) AS key`

const READ_SUBSCRIPTIONS = `
  WITH step AS (
         SELECT subscription, position, fencing_token, lag(position, 1, 0::bigint) OVER in_order AS position_before, lag(fencing_token, 1, 0::bigint) OVER in_order AS token_before
           FROM ledger WINDOW in_order AS (PARTITION BY subscription ORDER BY id)),
       tally AS (
         SELECT subscription, count(*) AS applied, count(DISTINCT position) AS different,
                count(*) FILTER (WHERE position <> position_before + 1) AS out_of_order,
                count(*) FILTER (WHERE fencing_token < token_before) AS stale_writes
           FROM step GROUP BY subscription)
  SELECT p.subscription, p.position::int AS position, coalesce(t.applied - t.different, 0)::int AS repeated, coalesce(out_of_order, 0)::int AS out_of_order,
         coalesce(stale_writes, 0)::int AS stale_writes,
         (SELECT count(*)::int FROM events AS e
           WHERE NOT EXISTS (SELECT FROM ledger AS l WHERE l.subscription = p.subscription AND l.position = e.position)) AS lost,
         (p.position, p.events, p.total, p.fold) = (SELECT coalesce(max(e.position), 0), count(*), coalesce(sum(e.amount), 0), coalesce(pg_temp.fold(e.position, e.amount * p.number ORDER BY e.position), 0) FROM events AS e) AS is_true
    FROM projections AS p LEFT JOIN tally AS t USING (subscription) ORDER BY p.number`

/** Counts, when all workers have left. */
export async function gatherEvidence(client: ClientBase, acknowledged: readonly Acknowledged[]): Promise<StoreEvidence> {
  await client.query(PREPARE)
  await client.query(NOTE_ACKNOWLEDGED, [acknowledged.map(({ from }) => from), acknowledged.map(({ to }) => to)])
  const [log] = (await client.query<LogRow>(READ_LOG)).rows
  if (log === undefined) throw new Error('The log could not be counted')
  const { rows } = await client.query<SubscriptionRow>(READ_SUBSCRIPTIONS)
  return {
    log: { events: log.events, missing: log.missing, acknowledged: log.acknowledged, acknowledgedLost: log.acknowledged_lost },
    subscriptions: rows.map(({ out_of_order, stale_writes, is_true, ...row }) => ({
      ...row,
      outOfOrder: out_of_order,
      staleWrites: stale_writes,
      isTrue: is_true,
    })),
  }
}

interface LogRow {
  readonly events: number
  readonly missing: number
  readonly acknowledged: number
  readonly acknowledged_lost: number
}

interface SubscriptionRow {
  readonly subscription: string
  readonly position: number
  readonly lost: number
  readonly repeated: number
  readonly out_of_order: number
  readonly stale_writes: number
  readonly is_true: boolean
}
