import { Socket } from 'node:net'
import { type Clock, ConnectionError, errorMessage } from '@es/coordination-core'
import { Client, type ClientConfig } from 'pg'
import { describeConnection } from './session-settings.js'

/** A `pg.Client` whose end is certain, and noticed. */
export interface PgConnection {
  readonly client: Client
  /** `host:port/database`, for messages. */
  readonly server: string
  /** Resolves, never rejects, when the connection is over for whatever reason. */
  readonly ended: Promise<Error>
  /** Ends the connection at once, without a word to the server. Idempotent. */
  destroy(reason: Error): void
  /** Takes leave of the server. Bounded by `timeoutSeconds`, never rejects. */
  end(timeoutSeconds: number): Promise<void>
}

/**
 * A connection that has yet to `connect`.
 *
 * @throws ConnectionError `settings_refused` when `pg` cannot make sense of the configuration, such as a connection string that is none.
 */
export function newConnection(config: ClientConfig, clock: Clock): PgConnection {
  // Our own socket, because only destroying it is certain to end: `client.end()` hangs on a half-open connection.
  const socket = new Socket()
  const client = newClient({ ...config, keepAlive: true, stream: () => socket })
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
  const destroy = (reason: Error): void => {
    over(reason)
    socket.destroy()
  }
  return {
    client,
    server,
    ended,
    destroy,
    async end(timeoutSeconds) {
      const cancel = clock.setTimer(timeoutSeconds, () => destroy(new ConnectionError('closed', 'The session was closed')))
      // A failure to take leave changes nothing: the socket is destroyed all the same.
      await Promise.race([client.end().catch((error: unknown) => errorMessage(error)), ended])
      cancel()
      destroy(new ConnectionError('closed', 'The session was closed'))
    },
  }
}

function newClient(config: ClientConfig): Client {
  try {
    return new Client(config)
  } catch (error) {
    throw new ConnectionError('settings_refused', `The connection settings cannot be used: ${errorMessage(error)}`, { cause: error })
  }
}
