import { setMaxListeners } from 'node:events'
import {
  backoffSeconds,
  boundedCall,
  type CampaigningLeaderElector,
  type Clock,
  ConnectionError,
  FailureLog,
  type FencedLeaderElector,
  invalidOption,
  type LeaderChangeCallback,
  Leadership,
  type LogFields,
  type Logger,
  sleep,
  type TryAcquireOptions,
} from '@es/coordination-core'
import { decodeApplicationName } from './application-name.js'
import { isLastingRefusal } from './connection-error.js'
import { type ParsedElectorOptions, type PostgresLeaderElectorOptions, parseElectorOptions } from './elector-options.js'
import { deriveLockKey, type LockKey } from './lock-key.js'
import type { CallOptions, LockSession } from './lock-session.js'

/**
 * Leader election by a PostgreSQL advisory lock under a lease that the server enforces. Needs no table and no privilege; PostgreSQL 14 or later.
 *
 * At most one instance leads at any instant, through death, pause and partition of processes and restart of the server, as long as clocks
 * run at the same rate within 10 %. Not covered: an operator (or a network device) that ends the session on the server only, while its
 * leader is paused or cut off; a failover to a standby, even a synchronous one, which knows nothing of the primary's locks; and the suspension of a
 * whole machine, during which its monotonic clock may stand still. A leader that is paused *inside* a write is not stopped by any elector:
 * guard the write with {@link fencingToken}.
 *
 * Takeover: at once when the leader's process dies or releases (milliseconds with {@link campaign}); within `leaseSeconds` plus one
 * wait slice when it is stopped or cut off; one lease after the server restarted.
 *
 * Opens its connection with the first call that needs one, and holds it until {@link close}. On a shared session a campaign asks every
 * `pollSeconds` instead of waiting on the server, and {@link close} leaves the session open.
 */
export class PostgresLeaderElector implements FencedLeaderElector, CampaigningLeaderElector, AsyncDisposable {
  readonly identity: string
  readonly #options: ParsedElectorOptions
  readonly #clock: Clock
  readonly #logger: Logger
  readonly #fields: LogFields
  readonly #key: LockKey
  readonly #leadership: Leadership
  readonly #locks: LockSession
  readonly #ownerName: string
  readonly #closing = new AbortController()
  #observedLeader: string | null = null

  /** @throws CoordinationError `invalid_options`, also for an election that another elector stands for on the same session; connects to nothing yet. */
  constructor(options: PostgresLeaderElectorOptions) {
    this.#options = parseElectorOptions(options)
    const { namespace, election, session } = this.#options
    this.identity = session.identity
    this.#clock = session.clock
    this.#logger = session.logger
    this.#fields = { identity: session.identity, election, namespace }
    this.#key = deriveLockKey(`leader/${namespace}`, election)
    this.#leadership = new Leadership({ identity: session.identity, logger: session.logger })
    this.#locks = session.locks
    this.#ownerName = JSON.stringify(['leader', namespace, election])
    const isAlone = this.#locks.addOwner(this.#ownerName, {
      lost: () => this.#lost(),
      closed: () => this.#lost(),
      renewed: () => void (this.#leadership.isLeader || this.#lookForLeader()),
    })
    if (!isAlone)
      throw invalidOption('election', election, 'one that no other PostgresLeaderElector stands for on this session; share that one')
    // Any number of campaigns may be under way; each listens.
    setMaxListeners(0, this.#closing.signal)
  }

  /** Computed from the clock: already `false` on the first line that runs after a pause longer than the trust in the lease. */
  get isLeader(): boolean {
    return this.fencingToken !== null
  }

  /**
   * Number of the present term, a transaction id of the server: larger than that of any earlier term of this election, `null` when not
   * leading. It starts low again only where the database was restored into a new cluster, see `verifyStoredToken`.
   */
  get fencingToken(): bigint | null {
    return this.#leadership.isLeader ? this.#locks.tokenOf(this.#key) : null
  }

  /**
   * Identity of the leader: of this instance when it leads, otherwise as last read from the server's lock table, which is refreshed by every refused
   * {@link tryAcquire}, and every third of the lease while connected. Another instance's identity is cut to 63 bytes.
   */
  get currentLeader(): string | null {
    return this.isLeader ? this.identity : this.#observedLeader
  }

  /**
   * One attempt, see `LeaderElector.tryAcquire`. When this instance leads already, the server is asked whether it still does. Refused
   * (`false`) also while the server has been up for less than a lease.
   *
   * @throws ConnectionError with a `code` that says why the server could not be asked: `unreachable`, `timed_out`, `connection_lost`,
   *   `authentication_failed`, `transaction_pooler`, `standby`, `unsupported_server`, `settings_refused`, `lock_table_full`, `closed`.
   */
  async tryAcquire({ timeoutSeconds = 10, signal }: TryAcquireOptions = {}): Promise<boolean> {
    signal?.throwIfAborted()
    this.#closing.signal.throwIfAborted()
    const answerAt = this.#clock.monotonicSeconds() + timeoutSeconds
    const patience = (): CallOptions => ({ timeoutSeconds: answerAt - this.#clock.monotonicSeconds(), signal })
    if (this.isLeader) {
      const asking = { clock: this.#clock, what: 'Asking whether this instance still leads', timeoutSeconds, signals: [signal] }
      if (await boundedCall(asking, () => this.#locks.renew())) return this.isLeader
    }
    if (await this.#stand(() => this.#locks.tryLock([this.#key], patience()), signal)) return this.isLeader
    await this.#lookForLeader(patience())
    return false
  }

  /**
   * Waits for leadership on the server's own lock queue, in slices of `waitSliceSeconds`, so that a leader's death hands over in
   * milliseconds. Rides out every failure of a server that it reached before, with jittered backoff and a log line now and then.
   *
   * @throws the signal's reason when it aborts.
   * @throws ConnectionError `closed` after {@link close}; `authentication_failed`, `transaction_pooler`, `unsupported_server` or
   *   `settings_refused` when this instance has never been able to connect and waiting does not mend it.
   */
  async campaign({ signal }: { readonly signal?: AbortSignal } = {}): Promise<void> {
    const signals = [signal, this.#closing.signal]
    const term: Term = { token: null }
    try {
      await boundedCall({ clock: this.#clock, what: 'Campaigning', signals }, ({ signal: over }) => this.#campaign(over, term))
    } catch (error) {
      // Given up while the callbacks were being told of the term that it had just won.
      if (term.token !== null && term.token === this.fencingToken) {
        void this.release().catch((failure: unknown) =>
          this.#logger.warn({ ...this.#fields, error: failure }, 'Could not release leadership; it ends with the connection'),
        )
      }
      throw error
    }
  }

  async release(): Promise<void> {
    if (!this.#leadership.isLeader) return
    // The unlock is queued before anybody is told, so that a callback that acquires again asks behind it.
    const unlocked = this.#locks.unlock([this.#key])
    const told = this.#leadership.change(false)
    this.#logger.info(this.#fields, 'Released leadership')
    await Promise.all([unlocked, told])
  }

  async renew(): Promise<boolean> {
    return this.isLeader && (await this.#locks.renew()) && this.isLeader
  }

  onLeaderChange(callback: LeaderChangeCallback): void {
    this.#leadership.onLeaderChange(callback)
  }

  removeLeaderChangeCallback(callback: LeaderChangeCallback): boolean {
    return this.#leadership.removeLeaderChangeCallback(callback)
  }

  /**
   * Gives leadership up and ends the connection; campaigns and later calls reject with `closed`. Idempotent, never rejects. Leave-taking and
   * callbacks are given `requestTimeoutSeconds`, and the end of the connection as much again.
   */
  async close(): Promise<void> {
    // First, so that no callback(false) acquires again in between.
    this.#closing.abort(new ConnectionError('closed', 'The elector was closed'))
    const { session, isShared } = this.#options
    try {
      await boundedCall({ clock: this.#clock, what: 'Releasing leadership', timeoutSeconds: session.requestTimeoutSeconds }, () =>
        this.release(),
      )
    } catch (error) {
      this.#logger.warn({ ...this.#fields, error }, 'Could not release leadership before closing; it ends with the connection')
    }
    this.#locks.removeOwner(this.#ownerName)
    if (!isShared) await session.close()
    this.#observedLeader = null
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #campaign(over: AbortSignal, term: Term): Promise<void> {
    const { session, longestRetrySeconds, random } = this.#options
    const outage = new FailureLog({ what: 'Campaigning', clock: this.#clock, logger: this.#logger, fields: this.#fields })
    for (let failures = 0; ; ) {
      over.throwIfAborted()
      try {
        if (this.isLeader || (await this.#standAndWait(over, term))) return
        if (this.#observedLeader === null) await this.#lookForLeader()
        outage.succeeded()
        failures = 0
      } catch (error) {
        over.throwIfAborted()
        if (isLastingRefusal(error) && !session.hasConnected) throw error
        outage.failed(error)
        await sleep(backoffSeconds(++failures, { firstSeconds: 1, longestSeconds: longestRetrySeconds, random }), {
          clock: this.#clock,
          signal: over,
        })
      }
    }
  }

  /** One round of a campaign: waits for leadership for a while, where that is possible inside the server. */
  async #standAndWait(signal: AbortSignal, term: Term): Promise<boolean> {
    if (!this.#options.isShared) return this.#stand(() => this.#locks.waitForLock(this.#key, { signal }), signal, term)
    if (await this.#stand(() => this.#locks.tryLock([this.#key], { signal }), signal, term)) return true
    await sleep(this.#options.pollSeconds, { clock: this.#clock, signal })
    return false
  }

  /** Whether the attempt ended with the lock in hand; the callbacks have been told then, and may have released it again. */
  async #stand(attempt: () => Promise<void>, signal: AbortSignal | undefined, term: Term = { token: null }): Promise<boolean> {
    try {
      await attempt()
      signal?.throwIfAborted()
      this.#closing.signal.throwIfAborted()
    } catch (error) {
      // A call that was given up in the instant of its success leaves a lock that nobody would release.
      if (!this.#leadership.isLeader) void this.#locks.unlock([this.#key]).catch(() => {})
      throw error
    }
    const token = this.#locks.tokenOf(this.#key)
    if (token === null) return false
    if (this.#leadership.isLeader) return true
    this.#logger.info({ ...this.#fields, fencingToken: String(token) }, 'Gained leadership')
    this.#observedLeader = null
    term.token = token
    await this.#leadership.change(true)
    return true
  }

  #lost(): void {
    this.#observedLeader = null
    void this.#leadership.change(false)
  }

  async #lookForLeader(patience: CallOptions = {}): Promise<void> {
    try {
      const holder = (await this.#locks.holders([this.#key], patience)).get(this.#key)
      const leader = holder === undefined ? null : decodeApplicationName(holder.applicationName)
      // The process behind the name, for whoever wonders about a leader that does nothing.
      if (leader !== null && leader !== this.#observedLeader) this.#logger.info({ ...this.#fields, leader, ...holder }, `${leader} leads`)
      this.#observedLeader = leader
    } catch (error) {
      // The answer is a courtesy; whoever needs the server finds out by asking it for the lock.
      this.#logger.debug({ ...this.#fields, error }, 'Could not find out who leads')
    }
  }
}

/** What a campaign has won so far. */
interface Term {
  token: bigint | null
}
