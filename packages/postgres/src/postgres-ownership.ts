import { setMaxListeners } from 'node:events'
import {
  boundedCall,
  type Claim,
  type ClaimHolder,
  type ClaimOutcome,
  ConnectionError,
  CoordinationError,
  type DeniedClaim,
  invalidOption,
  type Ownership,
} from '@es/coordination-core'
import { decodeApplicationName } from './application-name.js'
import type { LockHolder } from './lock-holder.js'
import type { LockKey } from './lock-key.js'
import type { LockSession } from './lock-session.js'
import { PostgresClaim } from './postgres-ownership-claim.js'
import { SubscriptionKeys } from './postgres-ownership-keys.js'
import { type ParsedOwnershipOptions, type PostgresOwnershipOptions, parseOwnershipOptions } from './postgres-ownership-options.js'

type CallOptions = Parameters<Ownership['claim']>[1]
type Holders = ReadonlyMap<LockKey, LockHolder>

const NO_CLAIMS: ReadonlyMap<string, Claim> = new Map()
const NO_HOLDERS: Holders = new Map()

/**
 * Claims as PostgreSQL advisory locks, all of them on one connection, under a lease that the server enforces. Needs no table and no privilege;
 * PostgreSQL 14 or later. What is guaranteed, and what is not, is said at `PostgresLeaderElector`; it holds for each claim.
 *
 * A batch is one round trip. The fencing token is the transaction id of the batch, so all claims of a batch have the same. All claims end together
 * when the session does, and after that nothing is claimed again by itself.
 *
 * - N1. A lock that is held has a claim, or a call under way that will make or unlock it; a claim has a lock, as far as trust in the lease goes.
 * - N2. Claims are made in the same step in which the call succeeds, so a call that was given up has made none; a lock that it
 *   won in that very moment is unlocked, unless another call under way wants it.
 * - N3. A claim that ended is out of {@link held} before its signal aborts.
 *
 * Opens its connection with the first call that needs one, and holds it until {@link close}. A shared session is left open.
 */
export class PostgresOwnership implements Ownership, AsyncDisposable {
  readonly instanceId: string
  readonly #options: ParsedOwnershipOptions
  readonly #locks: LockSession
  readonly #keys: SubscriptionKeys
  readonly #claims = new Map<string, PostgresClaim>()
  /** How many calls under way want each subscription. */
  readonly #wanted = new Map<string, number>()
  readonly #closing = new AbortController()
  readonly #ownerName: string
  #closed: Promise<void> | null = null

  /** @throws CoordinationError `invalid_options`, also for a namespace that another ownership uses on the same session; connects to nothing yet. */
  constructor(options: PostgresOwnershipOptions) {
    this.#options = parseOwnershipOptions(options)
    const { session, namespace } = this.#options
    this.instanceId = session.identity
    this.#locks = session.locks
    this.#keys = new SubscriptionKeys(namespace)
    // Any number of calls may be under way; each listens.
    setMaxListeners(0, this.#closing.signal)
    this.#ownerName = JSON.stringify(['ownership', namespace])
    const isAlone = this.#locks.addOwner(this.#ownerName, {
      lost: (reason) => this.#endAll('claim_lost', reason),
      renewed: () => {},
      closed: () =>
        this.#endAll(
          this.#closing.signal.aborted ? 'claim_released' : 'claim_lost',
          new ConnectionError('closed', 'The session was closed'),
        ),
    })
    if (!isAlone) throw invalidOption('namespace', namespace, 'one that no other PostgresOwnership has on this session; share that one')
  }

  /** A live view, empty from the moment the lease can no longer be trusted. */
  get held(): ReadonlyMap<string, Claim> {
    // All claims rest on one lease.
    const [any] = this.#claims.values()
    return any === undefined || any.isHeld ? this.#claims : NO_CLAIMS
  }

  /**
   * See `Ownership.claim`. A claim that exists is answered as it is, without asking the server. Of a call and a {@link release} of the same
   * subscription at the same time either may come first; a claim that the release ended is denied, with no holder.
   *
   * Denied altogether while the server has been up for less than a lease: a holder that it forgot when it restarted may not know yet.
   *
   * @throws ConnectionError with a `code` that says why, see `PostgresLeaderElector.tryAcquire`.
   * @throws CoordinationError `too_many_claims` beyond `maxClaims` or `maxLockTableShare`; `invalid_options` for a text that cannot be a name.
   */
  async claim(subscriptions: readonly string[], { timeoutSeconds = 10, signal }: CallOptions = {}): Promise<ClaimOutcome> {
    signal?.throwIfAborted()
    this.#closing.signal.throwIfAborted()
    const keys = this.#keys.of(subscriptions)
    if (keys.size === 0) return { claimed: [], denied: [] }
    this.#requireRoom(keys)
    this.#want(keys)
    try {
      const holders = await boundedCall(
        { clock: this.#options.session.clock, what: 'Claiming subscriptions', timeoutSeconds, signals: [signal, this.#closing.signal] },
        ({ signal: over }) => this.#ask([...keys.values()], over),
      )
      this.#closing.signal.throwIfAborted()
      return this.#adopt(keys, holders)
    } catch (error) {
      if (!(error instanceof ConnectionError) || error.code !== 'lock_table_full') throw error
      throw tooManyClaims(`${error.message}, or maxLockTableShare`, error)
    } finally {
      this.#letGo(keys)
    }
  }

  async release(subscriptions: readonly string[]): Promise<void> {
    const ending: PostgresClaim[] = []
    for (const subscription of new Set(subscriptions)) {
      const claim = this.#claims.get(subscription)
      if (claim === undefined) continue
      this.#claims.delete(subscription)
      ending.push(claim)
    }
    if (ending.length === 0) return
    // Queued before anybody is told, so that a listener that claims again asks behind it.
    const unlocked = this.#locks.unlock(ending.map(({ key }) => key))
    for (const claim of ending) claim.end('claim_released')
    await unlocked
  }

  /**
   * See `Ownership.observe`: one query of the lock table. An instance id of more than 63 bytes is cut, other than this instance's own. Holders that are
   * not of this project are shown too, under their `application_name`.
   */
  async observe(subscriptions: readonly string[]): Promise<ReadonlyMap<string, ClaimHolder>> {
    this.#closing.signal.throwIfAborted()
    const keys = this.#keys.of(subscriptions)
    const observed = new Map<string, ClaimHolder>()
    if (keys.size === 0) return observed
    const holders = await this.#locks.holders([...keys.values()], { timeoutSeconds: 10, signal: this.#closing.signal })
    for (const [subscription, key] of keys) {
      const holder = this.#holderOf(subscription, holders.get(key))
      if (holder !== null) observed.set(subscription, holder)
    }
    return observed
  }

  /**
   * Releases all claims and ends the connection, or leaves a shared one open; calls under way and later ones reject with `closed`. Idempotent, never
   * rejects; bounded by `requestTimeoutSeconds`, on a shared session by the trust in the lease.
   */
  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #close(): Promise<void> {
    const { isShared, session, namespace } = this.#options
    this.#closing.abort(new ConnectionError('closed', 'The ownership was closed'))
    if (isShared) {
      try {
        await this.release([...this.#claims.keys()])
      } catch (error) {
        session.logger.warn(
          { instanceId: this.instanceId, namespace, error },
          'Could not release the claims before closing; they end with the session',
        )
      }
    } else {
      // The locks end with the session; unlocking them first would only take longer.
      await session.close()
    }
    this.#locks.removeOwner(this.#ownerName)
  }

  /** Locks what is free of `keys`; answers who holds the others. */
  async #ask(keys: readonly LockKey[], signal: AbortSignal): Promise<Holders> {
    await this.#locks.tryLock(keys, { signal, tableShare: this.#options.maxLockTableShare })
    const refused = keys.filter((key) => this.#locks.tokenOf(key) === null)
    return refused.length === 0 ? NO_HOLDERS : this.#locks.holders(refused, { signal })
  }

  /** N1, N2: turns locks into claims, in one step. */
  #adopt(keys: ReadonlyMap<string, LockKey>, holders: Holders): ClaimOutcome {
    const claimed: Claim[] = []
    const denied: DeniedClaim[] = []
    for (const [subscription, key] of keys) {
      const fencingToken = this.#locks.tokenOf(key)
      if (fencingToken === null) {
        denied.push({ subscription, holder: this.#holderOf(subscription, holders.get(key)) })
        continue
      }
      let claim = this.#claims.get(subscription)
      if (claim?.fencingToken !== fencingToken) {
        claim?.end('claim_lost')
        claim = new PostgresClaim({ subscription, fencingToken, key, locks: this.#locks })
        this.#claims.set(subscription, claim)
      }
      claimed.push(claim)
    }
    return { claimed, denied }
  }

  #want(keys: ReadonlyMap<string, LockKey>): void {
    for (const subscription of keys.keys()) this.#wanted.set(subscription, (this.#wanted.get(subscription) ?? 0) + 1)
  }

  /** N2: ends a call's interest in `keys`, and unlocks those that nobody has any more. */
  #letGo(keys: ReadonlyMap<string, LockKey>): void {
    const strays: LockKey[] = []
    for (const [subscription, key] of keys) {
      const others = (this.#wanted.get(subscription) ?? 1) - 1
      if (others > 0) this.#wanted.set(subscription, others)
      else this.#wanted.delete(subscription)
      if (others === 0 && !this.#claims.has(subscription) && this.#locks.tokenOf(key) !== null) strays.push(key)
    }
    // If the server cannot be told, the session ends, and the locks with it.
    if (strays.length > 0) this.#locks.unlock(strays).catch(() => {})
  }

  #requireRoom(keys: ReadonlyMap<string, LockKey>): void {
    const { maxClaims } = this.#options
    let total = this.#claims.size
    for (const subscription of this.#wanted.keys()) if (!this.#claims.has(subscription)) total++
    let added = 0
    for (const subscription of keys.keys()) if (!this.#claims.has(subscription) && !this.#wanted.has(subscription)) added++
    if (added === 0 || total + added <= maxClaims) return
    throw tooManyClaims(
      `${added} more claims would make ${total + added}, and maxClaims is ${maxClaims}: raise it, or spread the subscriptions over more instances`,
    )
  }

  #holderOf(subscription: string, holder: LockHolder | undefined): ClaimHolder | null {
    if (holder === undefined) return null
    const since = holder.connectedAt === null ? '' : `, connected since ${holder.connectedAt.toISOString()}`
    const instanceId = this.#claims.has(subscription) ? this.instanceId : decodeApplicationName(holder.applicationName)
    return { instanceId, detail: `backend pid ${holder.backendPid}${since}` }
  }

  #endAll(code: 'claim_released' | 'claim_lost', reason: Error): void {
    const ended = [...this.#claims.values()]
    this.#claims.clear()
    for (const claim of ended) claim.end(code, reason)
  }
}

function tooManyClaims(message: string, cause?: unknown): CoordinationError {
  return new CoordinationError('too_many_claims', message, { cause })
}
