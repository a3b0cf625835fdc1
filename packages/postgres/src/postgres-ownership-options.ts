import { invalidOption, requireInteger, requireName, requireOptions } from '@es/coordination-core'
import { type PostgresLockSession, type PostgresLockSessionOptions, sessionOf } from './postgres-lock-session.js'

/** Which subscriptions are claimed, and how many at most. */
export interface ClaimOptions {
  /**
   * Keeps subscriptions of different applications in one database apart.
   * @default 'default'
   */
  readonly namespace?: string
  /**
   * Most claims that this instance holds at a time. A backstop against a runaway list, not a share of the work: the locks of a cluster are as many as
   * its subscriptions, whoever holds them, and an instance that survives the others must be able to take them all. What the server can
   * bear is `maxLockTableShare`.
   * @default 10000
   */
  readonly maxClaims?: number
  /**
   * How full a batch of claims may make the server's lock table, in (0, 1]. The table has room for about
   * `max_locks_per_transaction * (max_connections + max_prepared_transactions)` locks (6,400 by default) of all sessions of the server; when
   * it is full, queries of *other* sessions fail. Raise the server's setting rather than this.
   * @default 0.5
   */
  readonly maxLockTableShare?: number
}

/** How a `PostgresOwnership` is set up: with a lock session of its own, or with one that is shared, with an elector for example. */
export type PostgresOwnershipOptions = ClaimOptions & (PostgresLockSessionOptions | { readonly session: PostgresLockSession })

/** The options with their defaults, checked. */
export interface ParsedOwnershipOptions extends Required<ClaimOptions> {
  readonly session: PostgresLockSession
  /** Whether the session was handed in, so that it is used by others and closed by whoever made it. */
  readonly isShared: boolean
}

/** @throws CoordinationError `invalid_options` naming the option, its value and the rule. */
export function parseOwnershipOptions(options: PostgresOwnershipOptions): ParsedOwnershipOptions {
  const maxLockTableShare = requireOptions(options).maxLockTableShare ?? 0.5
  if (!(typeof maxLockTableShare === 'number' && maxLockTableShare > 0 && maxLockTableShare <= 1)) {
    throw invalidOption('maxLockTableShare', maxLockTableShare, 'a number above 0 and at most 1')
  }
  return {
    namespace: requireName('namespace', options.namespace ?? 'default'),
    maxClaims: requireInteger('maxClaims', options.maxClaims ?? 10_000, { atLeast: 1 }),
    maxLockTableShare,
    isShared: 'session' in options,
    session: sessionOf(options),
  }
}
