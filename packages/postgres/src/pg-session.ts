import { Socket } from 'node:net'
import { boundedCall, type Clock, ConnectionError, errorMessage } from '@es/coordination-core'
import { Client, type ClientConfig } from 'pg'
import { connectError, poolerRefusal } from './connection-error.js'
import { clientConfig, describeConnection, type PostgresConnection, type SessionTimings } from './session-settings.js'
import { ADOPT, type Statement } from './statements.js'

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
  const { connection, timings, applicationName, timeoutSeconds, signal, clock, onNotification } = options
  // Our own socket, because only destroying it is certain to end: `client.end()` hangs on a half-open connection.
  const socket = new Socket()
  const client = newClient({ ...clientConfig(connection, timings), keepAlive: true, stream: () => socket })
  const server = describeConnection(client)

  let over: (reason: Error) => void = () => {}
  const ended = new Promise<Error>((resolve) => {
    over = resolve
  })
  // Without a listener a connection that dies while idle would end the process.
  client.on('error', (error) =>
    over(new ConnectionError('connection_lost', `The connection to ${server} was lost: ${error.message}`, { cause: error })),
  )
  client.on('end', () => over(new ConnectionError('connection_lost', `The connection to ${server} was closed`)))
  if (onNotification) client.on('notification', ({ channel, payload = '' }) => onNotification(channel, payload))
  const destroy = (reason: Error): void => {
    over(reason)
    socket.destroy()
  }

  try {
    return await boundedCall({ clock, what: `Connecting to ${server}`, timeoutSeconds, signals: [signal] }, adopt)
  } catch (error) {
    const refusal = signal.aborted ? signal.reason : connectError(server, error)
    destroy(refusal)
    throw refusal
  }

  async function adopt(): Promise<Session> {
    await client.connect()
    const { rows } = await client.query<Row>(ADOPT, [applicationName])
    const openedAt = clock.monotonicSeconds()
    const facts = rows[0] ?? {}
    // The key data of a pooler's own protocol names no backend of the server.
    if (Reflect.get(client, 'processID') !== Number(facts.pid)) throw poolerRefusal(server)
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
        `${server} runs with idle_session_timeout = ${lease} ms in spite of the startup options, so it would not enforce the lease of ${timings.leaseSeconds} s: remove what overrides it`,
      )
    }
    return {
      serverUpSeconds: Math.max(Number(facts.server_up_seconds), 0),
      openedAt,
      async query(statement, values) {
        // A text of several statements answers with a list of results.
        const answer = await client.query<Row>(
          typeof statement === 'string' ? { text: statement } : { ...statement, values: [...(values ?? [])] },
        )
        return (Array.isArray(answer) ? answer.at(-1) : answer).rows
      },
      ended,
      destroy,
      async end(limitSeconds) {
        const cancel = clock.setTimer(limitSeconds, () => destroy(new ConnectionError('closed', 'The session was closed')))
        // A failure to take leave changes nothing: the socket is destroyed all the same.
        await Promise.race([client.end().catch((error: unknown) => errorMessage(error)), ended])
        cancel()
        destroy(new ConnectionError('closed', 'The session was closed'))
      },
    }
  }
}

/** @throws ConnectionError `settings_refused` when `pg` cannot make sense of the configuration, such as a connection string that is none. */
function newClient(config: ClientConfig): Client {
  try {
    return new Client(config)
  } catch (error) {
    throw new ConnectionError('settings_refused', `The connection settings cannot be used: ${errorMessage(error)}`, { cause: error })
  }
}
