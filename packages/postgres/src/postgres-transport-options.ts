import {
  type Clock,
  type Logger,
  requireClock,
  requireFunction,
  requireInteger,
  requireLogger,
  requireName,
  requireOptions,
  requireSeconds,
} from '@es/coordination-core'
import { type Pooler, type PostgresConnection, requireConnection, requirePooler } from './session-settings.js'

/** How a `PostgresTransport` is set up. */
export interface PostgresTransportOptions {
  /** The server itself, neither a standby nor (but for {@link pooler}) a pooler: a connection string or a `pg.Client` configuration. One connection is kept open. */
  readonly connection: PostgresConnection
  /**
   * `'session'` when a pooler in session mode stands in between, see `PostgresLockSessionOptions.pooler`.
   * @default 'none'
   */
  readonly pooler?: Pooler
  /**
   * Name of this instance, shown with the connection in `pg_stat_activity` (`es-transport NAME`).
   * @default none
   */
  readonly instanceId?: string
  /**
   * Keeps clusters in one database apart: only transports of the same namespace hear each other.
   * @default 'default'
   */
  readonly namespace?: string
  /**
   * Longest time for which no notification proves that the connection works, in seconds: then the transport sends one to itself and waits for it, and
   * replaces the connection when it does not come within `requestTimeoutSeconds`. The one statement that an idle transport sends. Shorter costs every
   * listener in the database a wake-up more often, but only where there are no messages.
   * @default 5
   */
  readonly healthCheckSeconds?: number
  /**
   * Bounds connecting, and every statement, in seconds: also the longest that a `publish` or `subscribe` hangs on a connection that stopped answering.
   * @default 5
   */
  readonly requestTimeoutSeconds?: number
  /**
   * Longest wait between attempts to connect again, in seconds: the first is made at once, the second after a quarter to half a second, later ones
   * after up to twice as long each, jittered.
   * @default 5
   */
  readonly longestRetrySeconds?: number
  /**
   * Longest message, in bytes of its JSON text with all but ASCII escaped; both sides refuse a longer one. Messages of up to 7,999 bytes are one notification.
   * @default 1048576
   */
  readonly maxMessageBytes?: number
  /**
   * Jitter, in [0, 1).
   * @default Math.random
   */
  readonly random?: () => number
  /** @default systemClock */
  readonly clock?: Clock
  /** @default consoleLogger, which prints warnings and errors */
  readonly logger?: Logger
}

/** The options with their defaults, checked. */
export interface ParsedTransportOptions extends Required<Omit<PostgresTransportOptions, 'instanceId'>> {
  /** As the server shows it, before it is encoded and cut. */
  readonly applicationName: string
}

/** @throws CoordinationError `invalid_options` naming the option, its value and the rule. */
export function parseTransportOptions(options: PostgresTransportOptions): ParsedTransportOptions {
  const { instanceId } = requireOptions(options)
  return {
    connection: requireConnection(options.connection),
    pooler: requirePooler(options.pooler),
    applicationName: instanceId === undefined ? 'es-transport' : `es-transport ${requireName('instanceId', instanceId)}`,
    namespace: requireName('namespace', options.namespace ?? 'default'),
    healthCheckSeconds: requireSeconds('healthCheckSeconds', options.healthCheckSeconds ?? 5, { atLeast: 0.01, atMost: 3600 }),
    requestTimeoutSeconds: requireSeconds('requestTimeoutSeconds', options.requestTimeoutSeconds ?? 5, { above: 0, atMost: 3600 }),
    longestRetrySeconds: requireSeconds('longestRetrySeconds', options.longestRetrySeconds ?? 5, { above: 0, atMost: 3600 }),
    maxMessageBytes: requireInteger('maxMessageBytes', options.maxMessageBytes ?? 1_048_576, { atLeast: 1024, atMost: 64 * 1_048_576 }),
    random: requireFunction('random', options.random ?? Math.random),
    clock: requireClock(options.clock),
    logger: requireLogger(options.logger),
  }
}
