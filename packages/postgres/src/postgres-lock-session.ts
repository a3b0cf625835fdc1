import {
  type Clock,
  invalidOption,
  type Logger,
  requireClock,
  requireLogger,
  requireName,
  requireOptions,
  requireOrder,
  requireSeconds,
} from '@es/coordination-core'
import { decodeApplicationName, encodeApplicationName } from './application-name.js'
import { LockSession } from './lock-session.js'
import { openSession } from './pg-session.js'
import { type Pooler, type PostgresConnection, requireConnection, requirePooler } from './session-settings.js'

/** Clocks may run at rates that differ by this factor; the lease must outlast the trust in it all the same. */
const CLOCK_RATE_MARGIN = 1.1

/** Longest time that Linux waits before it probes a silent connection. With a longer lease TCP would give a cut-off instance up before the lease does. */
const LONGEST_LEASE_SECONDS = 32_767

/** How a {@link PostgresLockSession} is set up. All instances of a cluster must use the same `leaseSeconds`. */
export interface PostgresLockSessionOptions {
  /**
   * Name of this instance, unique among those alive. Others see it as the session's `application_name`, which the server cuts to 63
   * bytes: what differs only behind them looks the same to them.
   */
  readonly identity: string
  /** The server itself, neither a standby nor (but for {@link pooler}) a pooler: a connection string or a `pg.Client` configuration. One connection is kept open. */
  readonly connection: PostgresConnection
  /**
   * `'session'` when a pooler stands in between which keeps one server session for each connection, such as PgBouncer with `pool_mode = session`. That
   * is verified whenever a connection is opened, which takes a second connection for a moment. What cannot be verified is up to you: the pooler must
   * not end connections that are idle for less than a lease, and its restart counts as an administrator ending sessions. `'none'` refuses every pooler.
   * @default 'none'
   */
  readonly pooler?: Pooler
  /**
   * How long the server waits for an instance that fell silent (stopped, cut off) before it frees its locks, in seconds. Shorter means
   * faster takeover from a silent instance, and that a shorter hiccup costs the locks; they are renewed every third of it. An instance
   * whose process dies is replaced at once, whatever the lease. After a restart of the server nothing is locked for one lease. From 0.3 to 32,767.
   * @default 10
   */
  readonly leaseSeconds?: number
  /**
   * How long after a successful renewal this instance trusts its locks, in seconds; must be at most `leaseSeconds / 1.1`, and more
   * than the third of the lease after which the next renewal is sent.
   * @default two thirds of leaseSeconds
   */
  readonly renewDeadlineSeconds?: number
  /**
   * Longest single wait of a campaign on the server, in seconds. A waiting candidate holds back VACUUM in the whole database for that long.
   * @default 1
   */
  readonly waitSliceSeconds?: number
  /**
   * Bounds connecting, and every statement while no lock is held, in seconds. While locks are held, the trust in them is the bound.
   * @default 5
   */
  readonly requestTimeoutSeconds?: number
  /** @default systemClock */
  readonly clock?: Clock
  /** @default consoleLogger, which prints warnings and errors */
  readonly logger?: Logger
}

/**
 * The one connection on which an instance holds its locks: leadership, claims, or both. Make one to share it; an
 * elector or an ownership that is given connection settings makes its own.
 *
 * Connects with the first call that needs it, again after each loss, and until {@link close}.
 */
export class PostgresLockSession implements AsyncDisposable {
  readonly identity: string
  readonly clock: Clock
  /** Never throws. */
  readonly logger: Logger
  /** See {@link PostgresLockSessionOptions.requestTimeoutSeconds}. */
  readonly requestTimeoutSeconds: number
  /** @internal */
  readonly locks: LockSession
  #hasConnected = false

  /** @throws CoordinationError `invalid_options` naming the option, its value and the rule; connects to nothing yet. */
  constructor(options: PostgresLockSessionOptions) {
    const clock = requireClock(requireOptions(options).clock)
    const connection = requireConnection(options.connection)
    const pooler = requirePooler(options.pooler)
    const timings = parseTimings(options)
    this.identity = requireName('identity', options.identity)
    this.clock = clock
    this.requestTimeoutSeconds = timings.requestTimeoutSeconds
    this.logger = requireLogger(options.logger)
    const { identity, logger } = this
    const applicationName = encodeApplicationName(identity)
    if (decodeApplicationName(applicationName) !== identity) {
      logger.warn({ identity }, `The identity is too long for an application_name; other instances see it as ${applicationName}`)
    }
    this.locks = new LockSession({
      ...timings,
      clock,
      logger,
      fields: { identity },
      open: async (signal) => {
        const session = await openSession({
          connection,
          pooler,
          timings,
          applicationName,
          timeoutSeconds: timings.requestTimeoutSeconds,
          signal,
          clock,
        })
        this.#hasConnected = true
        return session
      },
    })
  }

  /** Whether the server was ever found fit. */
  get hasConnected(): boolean {
    return this.#hasConnected
  }

  /** Ends the connection, and with it every lock; later calls of whoever uses the session reject with `closed`. Idempotent, never rejects. */
  close(): Promise<void> {
    return this.locks.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

/**
 * The lock session that was handed in, or one of its own made from the settings in `options`.
 *
 * @throws CoordinationError `invalid_options` naming the option, its value and the rule.
 */
export function sessionOf(options: PostgresLockSessionOptions | { readonly session: PostgresLockSession }): PostgresLockSession {
  if (!('session' in options)) return new PostgresLockSession(options)
  if (options.session?.locks instanceof LockSession) return options.session
  throw invalidOption('session', options.session, 'a PostgresLockSession')
}

interface LockTimings {
  readonly leaseSeconds: number
  readonly renewDeadlineSeconds: number
  readonly waitSliceSeconds: number
  readonly requestTimeoutSeconds: number
  readonly statementSeconds: number
}

function parseTimings(options: PostgresLockSessionOptions): LockTimings {
  const leaseSeconds = requireSeconds('leaseSeconds', options.leaseSeconds ?? 10, { atLeast: 0.3, atMost: LONGEST_LEASE_SECONDS })
  const renewDeadlineSeconds = requireSeconds('renewDeadlineSeconds', options.renewDeadlineSeconds ?? (leaseSeconds * 2) / 3)
  const trust = { name: `renewDeadlineSeconds * ${CLOCK_RATE_MARGIN}`, value: renewDeadlineSeconds * CLOCK_RATE_MARGIN }
  requireOrder(trust, { name: 'leaseSeconds', value: leaseSeconds }, { orEqual: true })
  requireOrder({ name: 'leaseSeconds / 3', value: leaseSeconds / 3 }, { name: 'renewDeadlineSeconds', value: renewDeadlineSeconds })
  const waitSliceSeconds = requireSeconds('waitSliceSeconds', options.waitSliceSeconds ?? 1, { above: 0, atMost: 60 })
  const requestTimeoutSeconds = requireSeconds('requestTimeoutSeconds', options.requestTimeoutSeconds ?? 5, { above: 0, atMost: 3600 })
  return {
    leaseSeconds,
    renewDeadlineSeconds,
    waitSliceSeconds,
    requestTimeoutSeconds,
    statementSeconds: waitSliceSeconds + requestTimeoutSeconds,
  }
}
