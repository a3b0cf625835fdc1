import type pg from 'pg'
import { FAULT_KINDS } from '../plan/fault-kinds.js'
import { withClient } from '../store.js'
import { type Stage, waitFor } from './stage.js'

// Its lock sessions are named like the instance, the others have a word before or behind that.
const SESSIONS_OF = `SELECT pid FROM pg_stat_activity WHERE application_name ~ ('(^|[^-a-z0-9])' || $1 || '($|[^-0-9])')`
const COUNT = `SELECT count(*)::int AS number FROM (${SESSIONS_OF}) AS session`
const END_ALL = `SELECT count(*) FILTER (WHERE pg_terminate_backend(pid))::int AS ended FROM (${SESSIONS_OF}) AS session`
const END_ONE = `
  SELECT count(*) FILTER (WHERE pg_terminate_backend(pid))::int AS ended
    FROM (SELECT pid, row_number() OVER (ORDER BY pid) - 1 AS nr, count(*) OVER () AS number FROM (${SESSIONS_OF}) AS session) AS numbered
   WHERE nr = floor($2::float8 * number)`

/**
 * Ends all sessions of the worker in `slot`, or the one that `choice` (in [0, 1)) says, and records that right before. Waits until the server is there, and
 * the worker has any.
 */
export async function endSessions(stage: Stage, slot: number, name: 'session_ended' | 'sessions_ended', choice: number): Promise<void> {
  const { store, crew, history } = stage
  const { instanceId } = crew.member(slot)
  const end = async (client: pg.Client): Promise<number> => {
    const counted = await client.query<{ number: number }>(COUNT, [instanceId])
    if (counted.rows[0]?.number === 0) return 0
    history.record({ type: 'fault', kind: FAULT_KINDS[name].title, instanceId })
    const [statement, values] = name === 'session_ended' ? [END_ONE, [instanceId, choice]] : [END_ALL, [instanceId]]
    return (await client.query<{ ended: number }>(statement, values)).rows[0]?.ended ?? 0
  }
  await waitFor(stage, `sessions of ${instanceId} to end`, () => withClient(store.adminUrl, end))
}
