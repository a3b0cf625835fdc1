import { randomInt } from 'node:crypto'
import { type Clock, type ConnectionError, sleep } from '@es/coordination-core'
import { unfitPooler } from './connection-error.js'
import type { Row } from './pg-session.js'
import { endIdleHolder, lockProbe, lookAtProbe, type ProbeKey } from './session-pooler-statements.js'

/** One connection through the pooler, before any setting was changed on it. */
interface PooledConnection {
  /** Sends a text of several statements; resolves to the row of the one that answers. */
  ask(text: string): Promise<Row>
}

/** A second one, made for the check only. */
export interface PoolerProbe extends PooledConnection {
  /** Takes leave, as a client that closes its connection does. */
  end(): Promise<void>
}

/** What {@link verifySessionPooler} is told. */
export interface PoolerCheck {
  /** `host:port/database`, for messages. */
  readonly server: string
  /** The connection that is to become a lock session. */
  readonly connection: PooledConnection
  /** Opens another connection by the same way. */
  readonly openProbe: () => Promise<PoolerProbe>
  /** How long the pooler may take to free the locks of a connection that has ended, in seconds. */
  readonly resetSeconds: number
  readonly clock: Clock
  readonly signal: AbortSignal
}

const LOOK_EVERY_SECONDS = 0.01

/**
 * Makes sure that a lease can rest on a connection through a pooler, which the user says to be in session mode. Advisory locks must live exactly as
 * long as the client's connection:
 *
 * - Q1. One server session serves one connection: that of the other one is another, and our own stays the same from statement to statement.
 * - Q2. It comes without locks: one that a former client left behind would be taken a second time by whoever gets its session.
 * - Q3. A lock is still held while its connection is idle, outside of any transaction.
 * - Q4. It is gone once the connection has ended. A pooler in transaction mode does not know whose it was, and one in session mode frees it
 *   with its `server_reset_query`.
 *
 * Changes no setting, so that a pooler in transaction mode hands none on to others. Every answer says which server session gave it.
 *
 * @returns the process id of the connection's server session.
 * @throws ConnectionError `transaction_pooler`; the probe's lock is gone then, unless somebody else is using the session that it is in.
 * @throws what the connections throw.
 */
export async function verifySessionPooler(check: PoolerCheck): Promise<number> {
  const { server, connection, resetSeconds, clock, signal } = check
  const key: ProbeKey = [randomInt(2 ** 31), randomInt(2 ** 31)]
  const refuse = (found: string): ConnectionError => unfitPooler(server, found)
  const look = async (): Promise<Look> => readLook(await connection.ask(lookAtProbe(key)))

  const first = await look()
  if (first.ownLocks > 0) throw refuse('it hands out a server session in which another client left locks')
  const lookAgain = async (): Promise<Look> => {
    const next = await look()
    if (next.pid !== first.pid) throw refuse('it moves a connection from one server session to another')
    return next
  }

  const probe = await check.openProbe()
  // Before it locks anything, which in a shared session nobody could unlock.
  if (readLook(await probe.ask(lookAtProbe(key))).pid === first.pid) throw refuse('it lets two connections share a server session')
  await lookAgain()
  try {
    await followLock()
  } catch (error) {
    // The session may be one that nobody ends for hours.
    await connection.ask(endIdleHolder(key)).catch(() => {})
    throw error
  }
  return first.pid

  async function followLock(): Promise<void> {
    const locked = await probe.ask(lockProbe(key))
    const { holder } = await lookAgain()
    if (holder === null || holder !== Number(locked.pid)) throw refuse('a lock does not last while its connection is idle')
    await probe.end()
    const giveUpAt = clock.monotonicSeconds() + resetSeconds
    while ((await lookAgain()).holder !== null) {
      if (clock.monotonicSeconds() >= giveUpAt) throw refuse('a lock outlives its connection')
      await sleep(LOOK_EVERY_SECONDS, { clock, signal })
    }
  }
}

interface Look {
  /** Of the server session that answered. */
  readonly pid: number
  /** How many advisory locks that session has. */
  readonly ownLocks: number
  /** Which session has the probe's lock. */
  readonly holder: number | null
}

function readLook(row: Row): Look {
  return { pid: Number(row.pid), ownLocks: Number(row.own_locks), holder: row.holder === null ? null : Number(row.holder) }
}
