import { boundedCall, type Clock, ConnectionError } from '@es/coordination-core'
import type { Client } from 'pg'
import { connectError, poolerRefusal } from './connection-error.js'
import { newConnection, type PgConnection } from './pg-connection.js'
import { verifySessionPooler } from './session-pooler.js'
import { ANSWER } from './session-pooler-statements.js'
import { clientConfig, type Pooler, type PostgresConnection, type SessionTimings, sessionSettings } from './session-settings.js'
import { ADOPT, applySettings, BACKEND_PID, type Statement } from './statements.js'

export type Row = Readonly<Record<string, unknown>>

/** One open connection to the server, for one statement at a time. The port behind which tests script a server. */
export interface Session {
  /** How long the server had been up, in seconds, at some instant before {@link openedAt}; at least 0, even if its wall clock was set back. */
  readonly serverUpSeconds: number
  /** Monotonic time after the answer that told {@link serverUpSeconds}: the server is older than this makes it look, never younger. */
  readonly openedAt: number
  /** Sends a named statement, or several unnamed ones as one text, of which the rows of the last are returned. Rejects with the driver's error. */
  query(statement: Statement | string, values?: readonly unknown[]): Promise<readonly Row[]>
  /** Resolves, never rejects, when the session is over for whatever reason. */
  readonly ended: Promise<Error>
  /** Ends the session at once, without a word to the server. Idempotent. */
  destroy(reason: Error): void
  /** Takes leave of the server, so that its locks are free at once. Bounded by `timeoutSeconds`, never rejects. */
  end(timeoutSeconds: number): Promise<void>
}

/** What {@link openSession} is told. */
export interface OpenSessionOptions {
  readonly connection: PostgresConnection
  readonly pooler: Pooler
  readonly timings: SessionTimings
  /** Shown to others in `pg_stat_activity`. */
  readonly applicationName: string
  readonly timeoutSeconds: number
  /** Gives the attempt up. */
  readonly signal: AbortSignal
  readonly clock: Clock
  /** Told of each notification on a channel that the session listens to. Must not throw. */
  readonly onNotification?: (channel: string, payload: string) => void
}

/**
 * Opens a dedicated connection and makes sure that a lease can rest on it.
 *
 * @throws the reason of `signal` when it aborts.
 * @throws ConnectionError `unreachable`, `timed_out` or `authentication_failed`; `transaction_pooler`, `standby`,
 *   `unsupported_server` or `settings_refused` when the server was reached but is unfit, or the connection settings cannot be read.
 */
export async function openSession(options: OpenSessionOptions): Promise<Session> {
  const { connection, pooler, timings, applicationName, timeoutSeconds, signal, clock, onNotification } = options
  const config = clientConfig(connection, timings, pooler)
  const opened: PgConnection[] = []
  const open = (): PgConnection => {
    const next = newConnection(config, clock)
    opened.push(next)
    return next
  }
  const { client, server, ended, destroy, end } = open()
  if (onNotification) client.on('notification', ({ channel, payload = '' }) => onNotification(channel, payload))

  try {
    return await boundedCall({ clock, what: `Connecting to ${server}`, timeoutSeconds, signals: [signal] }, ({ signal: over }) =>
      adopt(over),
    )
  } catch (error) {
    const refusal = signal.aborted ? signal.reason : connectError(server, error, pooler)
    for (const { destroy: destroyIt } of opened) destroyIt(refusal)
    throw refusal
  }

  async function adopt(over: AbortSignal): Promise<Session> {
    await client.connect()
    const expectedPid = pooler === 'none' ? await verifyDirect() : await verifyPooler(over)
    // Settings only from here on: until it is verified, the server session may belong to others.
    if (pooler === 'session') await client.query(applySettings(sessionSettings(timings)))
    const { rows } = await client.query<Row>(ADOPT, [applicationName])
    const openedAt = clock.monotonicSeconds()
    const facts = rows[0] ?? {}
    if (expectedPid !== Number(facts.pid)) throw poolerRefusal(server)
    if (facts.is_standby === true) {
      throw new ConnectionError(
        'standby',
        `${server} is a standby, which grants a lock that the primary granted already and takes no notifications: connect to the primary`,
      )
    }
    const lease = Number(facts.idle_session_timeout_ms)
    if (lease !== Math.ceil(timings.leaseSeconds * 1000)) {
      throw new ConnectionError(
        'settings_refused',
        `${server} runs with idle_session_timeout = ${lease} ms in spite of what the session asked for, so it would not enforce the lease of ${timings.leaseSeconds} s: remove what overrides it`,
      )
    }
    return {
      serverUpSeconds: Math.max(Number(facts.server_up_seconds), 0),
      openedAt,
      async query(statement, values) {
        // A text of several statements answers with a list of results.
        const answer = await client.query<Row>(
          typeof statement === 'string' ? { text: statement } : { name: statement.name, text: statement.text, values: [...(values ?? [])] },
        )
        return (Array.isArray(answer) ? answer.at(-1) : answer).rows
      },
      ended,
      destroy,
      end,
    }
  }

  async function verifyDirect(): Promise<number> {
    const { rows } = await client.query<Row>(BACKEND_PID)
    const pid = Number(rows[0]?.pid)
    // The key data of a pooler's own protocol names no backend of the server.
    if (Reflect.get(client, 'processID') !== pid) throw poolerRefusal(server)
    return pid
  }

  function verifyPooler(over: AbortSignal): Promise<number> {
    return verifySessionPooler({
      server,
      connection: { ask: (text) => ask(client, text) },
      async openProbe() {
        over.throwIfAborted()
        const probe = open()
        await probe.client.connect()
        return { ask: (text) => ask(probe.client, text), end: () => probe.end(timeoutSeconds) }
      },
      // Sooner than the lease, which would end a session that was left alone, and be taken for the pooler.
      resetSeconds: Math.min(timeoutSeconds, timings.leaseSeconds) / 2,
      clock,
      signal: over,
    })
  }
}

async function ask(client: Client, text: string): Promise<Row> {
  const results = (await client.query<Row>(text)) as unknown as readonly { readonly rows: readonly Row[] }[]
  return results[ANSWER]?.rows[0] ?? {}
}
