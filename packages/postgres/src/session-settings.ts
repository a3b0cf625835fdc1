import { CoordinationError, invalidOption } from '@es/coordination-core'
import type { ClientConfig } from 'pg'

/** Where the server is: a connection string or the configuration of a `pg.Client`. Never a pool: a lock lives and dies with one connection. */
export type PostgresConnection = string | ClientConfig

/**
 * What stands between a session and its server: `'none'`, or a pooler in `'session'` mode, which keeps one server session for each connection for as
 * long as that lasts.
 */
export type Pooler = 'none' | 'session'

/** @throws CoordinationError `invalid_options`. */
export function requirePooler(pooler: unknown = 'none'): Pooler {
  if (pooler === 'none' || pooler === 'session') return pooler
  throw invalidOption('pooler', pooler, "'none' or 'session'")
}

/** The timings that a lock session asks the server to enforce, in seconds. */
export interface SessionTimings {
  readonly leaseSeconds: number
  /** Longest wait for a lock in one statement. */
  readonly waitSliceSeconds: number
  /** Longest time any statement may run on the server. */
  readonly statementSeconds: number
}

/**
 * The settings of a lock session.
 *
 * - `idle_session_timeout` is the lease: the server itself ends a session that stopped talking.
 * - TCP must not be quicker than the lease: a server that gave up a cut-off client after a few lost keepalives would free the lock
 *   while that client still trusts its lease. So the first probe is sent, and unacknowledged data given up, only after one lease.
 * - The timeouts that a role or database may set by default are set here too, or a short one would end every wait.
 * - `synchronous_commit` is set because a token must survive a crash of the server, whatever the role's default.
 */
export function sessionSettings({ leaseSeconds, waitSliceSeconds, statementSeconds }: SessionTimings): Readonly<Record<string, string>> {
  const milliseconds = (seconds: number): number => Math.ceil(seconds * 1000)
  const settings = {
    idle_session_timeout: milliseconds(leaseSeconds),
    lock_timeout: milliseconds(waitSliceSeconds),
    statement_timeout: milliseconds(statementSeconds),
    idle_in_transaction_session_timeout: milliseconds(leaseSeconds),
    tcp_keepalives_idle: Math.ceil(leaseSeconds),
    tcp_keepalives_interval: 1,
    tcp_keepalives_count: 3,
    tcp_user_timeout: milliseconds(leaseSeconds),
    synchronous_commit: 'on',
    // So that nobody's table or function is taken for one of the server's.
    search_path: 'pg_catalog',
  }
  return Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, String(value)]))
}

/** The {@link sessionSettings} as startup options. A pooler refuses or drops them, which is a welcome tripwire. */
export function startupOptions(timings: SessionTimings): string {
  return Object.entries(sessionSettings(timings))
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ')
}

/** @throws CoordinationError `invalid_options` when `connection` is empty, a pool or a client, or nothing of the kind. */
export function requireConnection(connection: unknown): PostgresConnection {
  // Most likely a variable of the environment that is not set.
  if (connection === '') {
    throw new CoordinationError(
      'invalid_options',
      "connection is empty; give a connection string, or {} for the driver's defaults (PGHOST and so on)",
    )
  }
  const isConfig = typeof connection === 'object' && connection !== null && typeof Reflect.get(connection, 'connect') !== 'function'
  if (typeof connection === 'string' || isConfig) return connection as PostgresConnection
  throw new CoordinationError(
    'invalid_options',
    'connection must be a connection string or a client configuration, not a pool or a client: the lock needs a connection of its own that nobody recycles',
  )
}

// What `pg` takes from a configuration or a connection string beyond how to reach the server. All of it is ours to decide: a timeout
// of the user's would end waits or statements early, and values that are parsed in another way would be misread.
const DECIDED_HERE = ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout', 'query_timeout', 'types', 'binary']

/**
 * `connection` as a client configuration with the {@link startupOptions} added behind the options it has: in the configuration itself, in the
 * `options` parameter of its connection string (which `pg` would let win over ours), or in PGOPTIONS. Through a pooler, which takes none, they
 * are not added.
 *
 * @throws CoordinationError `invalid_options` as {@link requireConnection}.
 */
export function clientConfig(connection: PostgresConnection, timings: SessionTimings, pooler: Pooler = 'none'): ClientConfig {
  requireConnection(connection)
  const config: ClientConfig = typeof connection === 'string' ? { connectionString: connection } : { ...connection }
  for (const name of DECIDED_HERE) Reflect.deleteProperty(config, name)
  const inherited: (string | undefined)[] = [config.options]
  const [address = '', query] = config.connectionString?.split(/\?(.*)/s) ?? []
  if (query !== undefined) {
    // Not a URL: `pg` also takes addresses that no URL may have, such as `postgres://user@/database?host=/run/postgresql`.
    const parameters = new URLSearchParams(query)
    inherited.push(parameters.get('options') ?? undefined)
    for (const name of ['options', ...DECIDED_HERE]) parameters.delete(name)
    config.connectionString = `${address}?${parameters}`
  }
  const own = inherited.filter(Boolean)
  const base = own.length > 0 ? own : [process.env.PGOPTIONS]
  const added = pooler === 'none' ? [startupOptions(timings)] : []
  return { ...config, options: [...base, ...added].filter(Boolean).join(' ') }
}

/** `host:port/database` of a connection for messages, without user or password. */
export function describeConnection(client: {
  readonly host: string
  readonly port: number
  readonly database?: string | undefined
}): string {
  return `${client.host}:${client.port}/${client.database ?? ''}`
}
