/** A lock of two halves, which can never be mistaken for one of an election or a claim. */
export type ProbeKey = readonly [number, number]

/**
 * Several statements in one text and one transaction, with a `search_path` that is over with it: so that nobody's table, function or operator is taken
 * for one of the server's, and nothing stays behind in a session that may belong to others.
 */
function inCatalog(statement: string): string {
  return `BEGIN; SET LOCAL search_path = pg_catalog; ${statement}; COMMIT`
}

/** Which of the results of a text of {@link inCatalog} is the answer. */
export const ANSWER = 2

const integer = (value: number): number => {
  if (!Number.isSafeInteger(value)) throw new RangeError(`Not an integer: ${value}`)
  return value
}

const isProbe = ([one, other]: ProbeKey): string =>
  `locktype = 'advisory' AND classid::bigint = ${integer(one)} AND objid::bigint = ${integer(other)} AND objsubid = 2`

/** The session that answers, how many advisory locks it has, and which session has the lock `key`. */
export function lookAtProbe(key: ProbeKey): string {
  return inCatalog(
    `SELECT pg_backend_pid() AS pid, count(*) FILTER (WHERE pid = pg_backend_pid())::int AS own_locks,
            max(pid) FILTER (WHERE ${isProbe(key)}) AS holder
       FROM pg_locks WHERE locktype = 'advisory' AND granted`,
  )
}

/** Takes the lock `key`. */
export function lockProbe([one, other]: ProbeKey): string {
  return inCatalog(`SELECT pg_backend_pid() AS pid, pg_try_advisory_lock(${integer(one)}, ${integer(other)})`)
}

/** Ends the session that has the lock `key`, unless a statement or a transaction is under way in it. Its client, if the pooler gave it one, has to connect again. */
export function endIdleHolder(key: ProbeKey): string {
  return inCatalog(
    `SELECT count(pg_terminate_backend(pid)) FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE ${isProbe(key)} AND state = 'idle'`,
  )
}
