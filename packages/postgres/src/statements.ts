import { escapeLiteral } from 'pg'

// Every statement the lock session sends. Each but the first three is named, so the server parses it once a connection.

/** A named statement; its parameters are positional. */
export interface Statement {
  readonly name: string
  readonly text: string
}

// A 64-bit advisory lock shows in pg_locks as two halves with objsubid = 1. Only locks of this database count: the same key in
// another database is another lock. A session's own locks are all in its database, so these are not asked for it: it is on every renewal's path. The functions
// behind pg_stat_activity and pg_database are asked and not those views and tables, because reading a table that all databases share takes a lock of the shared
// lock table: when that is full, of all statements these must not fail.
const KEY_OF_LOCK = '((l.classid::bigint << 32) | l.objid::bigint)'
const ADVISORY = `l.locktype = 'advisory' AND l.objsubid = 1 AND l.granted`
const OWN = `${ADVISORY} AND l.pid = pg_backend_pid()`
const OF_THIS_DATABASE = `${ADVISORY} AND l.database = (SELECT datid FROM pg_stat_get_activity(pg_backend_pid()))`

/** Which session of the server this is. Not a named statement: it may meet a pooler, in whose connection the name would stay and fail the next one who comes with it. */
export const BACKEND_PID = 'SELECT pg_catalog.pg_backend_pid() AS pid'

/** Sets `settings` for the rest of the session. Names pg_catalog, because until it has run the role's own search_path counts. */
export function applySettings(settings: Readonly<Record<string, string>>): string {
  const calls = Object.entries(settings).map(([name, value]) => `pg_catalog.set_config('${name}', ${escapeLiteral(value)}, false)`)
  return `SELECT ${calls.join(', ')}`
}

/**
 * Names the session and reads back what the lease rests on. $1: application name.
 *
 * - `pg_settings.setting` is the bare number of milliseconds, where `current_setting` would format it.
 * - The crash of one backend makes the postmaster, which survives it, end all sessions and recover. Two things tell that time: the start of the
 *   checkpointer, which an unprivileged role sees as null, and the reset of the statistics, which every role sees. An administrator may
 *   reset statistics too, which then only costs a lease of waiting.
 * - `transaction_timeout` (PostgreSQL 17) would end every wait if a role had it set. It cannot be a startup option: older servers refuse it.
 */
export const ADOPT = `SELECT pg_backend_pid() AS pid,
        set_config('application_name', $1, false) AS application_name,
        pg_is_in_recovery() AS is_standby,
        (SELECT set_config(name, '0', false) FROM pg_settings WHERE name = 'transaction_timeout') AS transaction_timeout,
        (SELECT setting::bigint FROM pg_settings WHERE name = 'idle_session_timeout')::text AS idle_session_timeout_ms,
        extract(epoch FROM clock_timestamp() - greatest(
          pg_postmaster_start_time(),
          (SELECT max(backend_start) FROM pg_stat_activity WHERE backend_type = 'checkpointer'),
          (SELECT stats_reset FROM pg_stat_bgwriter)))::float8 AS server_up_seconds`

// A transaction that only took an id commits without waiting for the disk, so a crash of the server could hand the same id, and so the same token, to
// the next holder. One record of the write-ahead log in it makes the commit wait (with synchronous_commit, see the startup options).
const DURABLE = `pg_logical_emit_message(true, 'es-coordination', '')`

/**
 * Tries every key of $1 (bigint[]) without waiting. `locked`: the keys that are now ours; `token`: the fencing token of the batch, null when
 * none is ours. The token is a transaction id, so it exceeds that of every earlier holder only if it is assigned after *all*
 * locks of the batch are taken: hence aggregate first, then read it.
 */
export const TRY_LOCK: Statement = {
  name: 'es_try_lock',
  text: `WITH attempt AS MATERIALIZED (SELECT key FROM unnest($1::bigint[]) AS key WHERE pg_try_advisory_lock(key)),
              batch AS MATERIALIZED (SELECT coalesce(array_agg(key::text), '{}') AS locked FROM attempt)
         SELECT locked, CASE WHEN locked <> '{}' THEN pg_current_xact_id()::text END AS token, CASE WHEN locked <> '{}' THEN ${DURABLE} END AS logged_at
           FROM batch`,
}

/**
 * {@link TRY_LOCK} for a batch that may be large: it locks nothing unless all of it fits into the share $2 of the lock table. One row, whose `fits` tells.
 *
 * - The table has room for `capacity` locks of all sessions of the cluster, a little more in truth; when it is full, queries of anybody fail.
 *   Locks on the fast path take no room in it, and predicate locks have a table of their own.
 * - CASE, because the order in which AND evaluates is not promised.
 */
export const TRY_LOCK_WITHIN: Statement = {
  name: 'es_try_lock_within',
  text: `WITH present AS MATERIALIZED (SELECT count(*)::int AS locks FROM pg_locks WHERE NOT fastpath AND mode <> 'SIReadLock'),
              setting AS MATERIALIZED (SELECT current_setting('max_locks_per_transaction')::int AS locks_per_transaction,
                current_setting('max_connections')::int + current_setting('max_prepared_transactions')::int AS transactions),
              room AS MATERIALIZED (SELECT present.locks AS present, locks_per_transaction, locks_per_transaction * transactions AS capacity, $2::float8 AS table_share,
                present.locks + cardinality($1::bigint[]) <= locks_per_transaction * transactions * $2::float8 AS fits FROM present, setting),
              attempt AS MATERIALIZED (SELECT key FROM unnest($1::bigint[]) AS key WHERE CASE WHEN (SELECT fits FROM room) THEN pg_try_advisory_lock(key) ELSE false END),
              batch AS MATERIALIZED (SELECT coalesce(array_agg(key::text), '{}') AS locked FROM attempt)
         SELECT locked, CASE WHEN locked <> '{}' THEN pg_current_xact_id()::text END AS token, CASE WHEN locked <> '{}' THEN ${DURABLE} END AS logged_at, room.*
           FROM batch, room`,
}

/**
 * Unlocks those keys of $1 (bigint[]) that this session holds, once each: a statement that failed while it was locking them leaves behind what it
 * had locked. Looked up first, because unlocking what is not held writes a warning to the server's log. By INTERSECT, because for a join or IN
 * PostgreSQL 14 compares each lock with each key: a second for 20,000 keys, during which the lease runs.
 */
export const UNLOCK_STRAY: Statement = {
  name: 'es_unlock_stray',
  text: `WITH stray AS MATERIALIZED (SELECT ${KEY_OF_LOCK} AS key FROM pg_locks AS l WHERE ${OWN}
                                   INTERSECT SELECT unnest($1::bigint[]))
         SELECT count(*) FILTER (WHERE pg_advisory_unlock(key))::int AS unlocked FROM stray`,
}

/**
 * Whether this backend still is on the primary and holds exactly the locks that the client thinks it holds, told by their number and
 * the sum of their keys, so that the answer is as small for a thousand locks as for one. It never locks again: session locks
 * stack, and a stacked lock survives one unlock.
 */
export const CHECK: Statement = {
  name: 'es_check',
  text: `SELECT pg_is_in_recovery() AS is_standby, count(*)::int AS locks, coalesce(sum(${KEY_OF_LOCK}), 0)::text AS checksum
           FROM pg_locks AS l WHERE ${OWN}`,
}

/**
 * Who holds the keys of $1 (bigint[]). `backend_start` is null to a role that may not see it. Joined and not `= ANY`, which compares each lock with
 * each key once the statement has a generic plan: ten times slower for a thousand of each.
 */
export const HOLDERS: Statement = {
  name: 'es_holders',
  text: `WITH wanted AS MATERIALIZED (SELECT DISTINCT key FROM unnest($1::bigint[]) AS key),
              taken AS MATERIALIZED (SELECT ${KEY_OF_LOCK} AS key, l.pid FROM pg_locks AS l WHERE ${OF_THIS_DATABASE})
         SELECT key::text AS key, pid, a.application_name, a.backend_start
           FROM taken JOIN wanted USING (key) LEFT JOIN pg_stat_get_activity(NULL) AS a USING (pid)`,
}

/** Unlocks every key of $1 (bigint[]); `unlocked` counts those that were ours. */
export const UNLOCK: Statement = {
  name: 'es_unlock',
  text: 'SELECT count(*) FILTER (WHERE pg_advisory_unlock(key))::int AS unlocked FROM unnest($1::bigint[]) AS key',
}

/**
 * Waits for a lock, but no longer than the session's `lock_timeout`, and then does what {@link TRY_LOCK} does; the session must not hold
 * the key yet.
 *
 * - One round trip, as a simple query: a DO block takes no parameters, so the key is written into the text; it must be an integer.
 * - The timeout is caught inside the block: an uncaught one would write an error to the server's log once a slice and candidate.
 * - Sliced at all because a waiting session pins `backend_xmin` and so holds back VACUUM in the whole database.
 */
export function waitForLock(key: string): string {
  if (!/^-?\d{1,19}$/.test(key)) throw new RangeError(`Not an advisory-lock key: ${key.slice(0, 40)}`)
  const literal = `'${key}'::bigint`
  return `DO $wait$ BEGIN PERFORM pg_advisory_lock(${literal}); EXCEPTION WHEN lock_not_available THEN NULL; END $wait$;
          SELECT CASE WHEN held THEN ARRAY['${key}'] ELSE '{}' END AS locked, CASE WHEN held THEN pg_current_xact_id()::text END AS token,
                 CASE WHEN held THEN ${DURABLE} END AS logged_at
            FROM (SELECT EXISTS (SELECT FROM pg_locks AS l WHERE ${OWN} AND ${KEY_OF_LOCK} = ${literal}) AS held) AS outcome`
}
