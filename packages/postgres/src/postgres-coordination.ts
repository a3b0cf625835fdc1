import { requireOptions } from '@es/coordination-core'
import type { ElectionOptions } from './elector-options.js'
import { PostgresLeaderElector } from './postgres-leader-elector.js'
import { PostgresLockSession, type PostgresLockSessionOptions } from './postgres-lock-session.js'
import { PostgresOwnership } from './postgres-ownership.js'
import type { ClaimOptions } from './postgres-ownership-options.js'
import { PostgresTransport } from './postgres-transport.js'
import type { PostgresTransportOptions } from './postgres-transport-options.js'

/** What only the transport of a {@link PostgresCoordination} is told. */
type TransportTimings = Pick<PostgresTransportOptions, 'healthCheckSeconds' | 'maxMessageBytes'>

/** How a {@link PostgresCoordination} is set up. Everything but the first two has a default. */
export interface PostgresCoordinationOptions
  extends Omit<PostgresLockSessionOptions, 'identity'>,
    Partial<ElectionOptions>,
    ClaimOptions,
    TransportTimings {
  /** Name of this instance, unique among those alive: identity in the election, owner of the claims. */
  readonly instanceId: string
  /**
   * Name of the election.
   * @default 'default'
   */
  readonly election?: string
}

/**
 * Elector, ownership and transport of one instance, from one connection string. **Two connections** in all: one for LISTEN and NOTIFY, and one
 * on which leadership and all claims are held, so that they are lost together or not at all. For a cluster of N instances allow 2 N of
 * `max_connections`, and one lock for each subscription and election.
 *
 * On the shared session a campaign asks every `pollSeconds` (0.5) instead of waiting on the server; a separate `PostgresLeaderElector` hands over in
 * milliseconds, for a third connection.
 *
 * Each connection is opened by the first call that needs it.
 */
export class PostgresCoordination implements AsyncDisposable {
  /** On the connection of the locks. */
  readonly elector: PostgresLeaderElector
  /** On the connection of the locks. */
  readonly ownership: PostgresOwnership
  /** On a connection of its own. */
  readonly transport: PostgresTransport
  readonly #session: PostgresLockSession
  #closed: Promise<void> | null = null

  /** @throws CoordinationError `invalid_options` naming the option, its value and the rule; connects to nothing yet. */
  constructor(options: PostgresCoordinationOptions) {
    const { instanceId, election = 'default' } = requireOptions(options)
    this.#session = new PostgresLockSession({ ...options, identity: instanceId })
    this.elector = new PostgresLeaderElector({ ...options, election, session: this.#session })
    this.ownership = new PostgresOwnership({ ...options, session: this.#session })
    this.transport = new PostgresTransport(options)
  }

  /**
   * Gives up leadership and all claims, then ends both connections. Say goodbye on the transport before. Idempotent, never rejects; bounded by the trust
   * in the lease and `requestTimeoutSeconds`.
   */
  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #close(): Promise<void> {
    // The session last: a lock that is unlocked is free at once, one that ends with its connection when the server has noticed.
    await Promise.all([this.elector.close(), this.ownership.close(), this.transport.close()])
    await this.#session.close()
  }
}
