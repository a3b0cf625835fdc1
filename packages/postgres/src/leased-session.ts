import { type CancelTimer, type Clock, ConnectionError, errorMessage } from '@es/coordination-core'
import type { LockKey } from './lock-key.js'
import { describeLockTable, isOutOfLocks, lockTableFull } from './lock-table.js'
import type { Row, Session } from './pg-session.js'
import { CHECK, type Statement, TRY_LOCK, TRY_LOCK_WITHIN, UNLOCK, UNLOCK_STRAY } from './statements.js'

/** How long the locks of a {@link LeasedSession} last. */
export interface LeaseOptions {
  readonly leaseSeconds: number
  readonly renewDeadlineSeconds: number
  /** Bounds the opening of a session and every statement of one that holds no lock; one that holds locks is bounded by the trust in them. */
  readonly requestTimeoutSeconds: number
  readonly clock: Clock
}

/** What the owner of a {@link LeasedSession} is told. */
export interface LeasedSessionOwner {
  /** A third of the lease has passed since the last renewal was due. The next one waits until this has settled. */
  renewalDue(): Promise<void>
  /** The session ended other than by {@link LeasedSession.stop}; its connection is destroyed already. Once. */
  lost(reason: Error): void
}

/**
 * One open session together with what is known of it: which locks the server holds for it, and until when that is certain.
 *
 * Whoever sends a statement has the turn, see `LockSession`; the invariants L1 to L7 are listed there.
 */
export class LeasedSession {
  readonly session: Session
  /** Fencing token of every lock that the server holds for us. Changed in here only, by the statement that has the turn. */
  readonly held = new Map<LockKey, bigint>()
  readonly #options: LeaseOptions
  readonly #owner: LeasedSessionOwner
  /** Locks whose release has been asked for. */
  readonly #releasing = new Set<LockKey>()
  /** Monotonic time until which the locks are certainly ours. */
  #trustedUntil = Number.NEGATIVE_INFINITY
  #endedBecause: Error | null = null
  #cancelDeadline: CancelTimer = () => {}
  #cancelRenewal: CancelTimer = () => {}
  /** Rejects the statement under way. */
  #interrupt: (reason: Error) => void = () => {}

  constructor(session: Session, options: LeaseOptions, owner: LeasedSessionOwner) {
    this.session = session
    this.#options = options
    this.#owner = owner
  }

  /** Begins to watch the connection and to ask for renewals. */
  start(): void {
    void this.session.ended.then((reason) => this.#end(reason))
    this.#scheduleRenewal()
  }

  /** The fencing token under which `key` is held now, `null` when it is not or when that is no longer certain (L2). */
  tokenOf(key: LockKey): bigint | null {
    if (this.#releasing.has(key) || this.#now() >= this.#trustedUntil) return null
    return this.held.get(key) ?? null
  }

  /** Ends the session when its locks, if it has any, are no longer certain; whether it did (L2, L4). */
  endIfOverdue(): boolean {
    if (this.held.size === 0 || this.#now() < this.#trustedUntil) return false
    this.#overdue()
    return true
  }

  /** Tries to lock all of `keys`; what was locked counts only when it is adopted. A full lock table is an answer (L7). */
  async tryLock(keys: readonly LockKey[], tableShare: number | undefined): Promise<readonly Row[]> {
    try {
      if (tableShare === undefined) return await this.ask(TRY_LOCK, [keys])
      const rows = await this.ask(TRY_LOCK_WITHIN, [keys, tableShare])
      if (rows[0]?.fits === false) throw lockTableFull(describeLockTable(rows[0], keys.length))
      return rows
    } catch (error) {
      if (!isOutOfLocks(error)) throw error
      await this.ask(UNLOCK_STRAY, [keys])
      throw lockTableFull(`a batch of ${keys.length} locks did not fit`, error)
    }
  }

  /** Counts the locks of an answer as held, and returns them. Whoever calls it must confirm, unlock or {@link watchDeadline} in the same step. */
  adopt(row: Row | undefined, sentAt: number): readonly LockKey[] {
    const locked = (row?.locked ?? []) as readonly LockKey[]
    if (locked.length === 0) return locked
    // The answer confirms the new locks, so it may begin the trust (L1), but it says nothing of older ones.
    if (this.held.size === 0) this.#trustedUntil = sentAt + this.#options.renewDeadlineSeconds
    const token = BigInt(String(row?.token))
    for (const key of locked) this.held.set(key, token)
    return locked
  }

  /** Ends the trust in `keys`; returns those for which it was not ended before, which are to be unlocked. */
  beginRelease(keys: readonly LockKey[]): readonly LockKey[] {
    const releasing = keys.filter((key) => this.held.has(key) && !this.#releasing.has(key))
    for (const key of releasing) this.#releasing.add(key)
    return releasing
  }

  /** Unlocks what {@link beginRelease} returned. */
  async unlock(keys: readonly LockKey[], limitSeconds?: number): Promise<void> {
    const [row] = await this.ask(UNLOCK, [keys], limitSeconds)
    for (const key of keys) {
      this.held.delete(key)
      this.#releasing.delete(key)
    }
    if (Number(row?.unlocked) !== keys.length) throw this.#doubt('The server did not hold a lock that was to be released')
    this.watchDeadline()
  }

  /** Renews the trust, or ends the session (L1, L3). */
  async confirm(limitSeconds?: number): Promise<void> {
    const sentAt = this.#now()
    const wasTrusted = sentAt < this.#trustedUntil
    const [row] = await this.ask(CHECK, [], limitSeconds)
    // After a pause the answer may be read before the timers that are due: trust that has run out does not come back unnoticed (L2).
    if (wasTrusted && this.endIfOverdue()) throw this.#endedBecause
    const checksum = [...this.held.keys()].reduce((sum, key) => sum + BigInt(key), 0n)
    if (row?.is_standby !== false) throw this.#doubt('The server is no longer the primary')
    if (Number(row.locks) !== this.held.size || row.checksum !== String(checksum)) {
      throw this.#doubt('The server does not hold exactly the locks of this session')
    }
    this.#trustedUntil = sentAt + this.#options.renewDeadlineSeconds
    this.watchDeadline()
  }

  /** Sends one statement. Any failure ends the session (L4), other than a full lock table that costs only the batch (L7). */
  async ask(statement: Statement | string, values: readonly unknown[], limitSeconds?: number): Promise<readonly Row[]> {
    if (this.#endedBecause !== null) throw this.#endedBecause
    const { clock, requestTimeoutSeconds } = this.#options
    const timeoutSeconds = limitSeconds ?? (this.held.size > 0 ? this.#trustedUntil - this.#now() : requestTimeoutSeconds)
    const cancelTimer = clock.setTimer(timeoutSeconds, () =>
      this.#end(new ConnectionError('timed_out', `The server did not answer within ${timeoutSeconds.toFixed(1)} s`)),
    )
    try {
      return await new Promise((resolve, reject) => {
        this.#interrupt = reject
        this.session.query(statement, values).then(resolve, reject)
      })
    } catch (error) {
      if (error instanceof ConnectionError) throw error
      if ((statement === TRY_LOCK || statement === TRY_LOCK_WITHIN) && isOutOfLocks(error)) throw error
      throw this.#doubt(`A statement failed: ${errorMessage(error)}`, error)
    } finally {
      cancelTimer()
    }
  }

  /** Reports that trust ran out, even when nothing answers (L2). */
  watchDeadline(): void {
    this.#cancelDeadline()
    if (this.#endedBecause !== null || this.held.size === 0) return
    this.#cancelDeadline = this.#options.clock.setTimer(this.#trustedUntil - this.#now(), () => this.#overdue())
  }

  /** Ends everything but the connection; what comes late changes nothing (L6). `false` when that was done before. */
  stop(reason: Error): boolean {
    if (this.#endedBecause !== null) return false
    this.#endedBecause = reason
    this.#cancelDeadline()
    this.#cancelRenewal()
    this.#interrupt(reason)
    return true
  }

  #overdue(): void {
    this.#doubt('The lease could not be renewed in time')
  }

  /** Ends the session because of `message` (L4); returns the error to throw. */
  #doubt(message: string, cause?: unknown): ConnectionError {
    const reason = new ConnectionError('connection_lost', message, { cause })
    this.#end(reason)
    return reason
  }

  #end(reason: Error): void {
    if (!this.stop(reason)) return
    this.session.destroy(reason)
    this.#owner.lost(reason)
  }

  /** One at a time, and a third of the lease apart as sent, not as answered: a slow answer must not put off the next renewal too. */
  #scheduleRenewal(alreadyWaitedSeconds = 0): void {
    const { clock, leaseSeconds } = this.#options
    this.#cancelRenewal = clock.setTimer(leaseSeconds / 3 - alreadyWaitedSeconds, () => {
      const startedAt = this.#now()
      void this.#owner.renewalDue().finally(() => {
        if (this.#endedBecause === null) this.#scheduleRenewal(this.#now() - startedAt)
      })
    })
  }

  #now(): number {
    return this.#options.clock.monotonicSeconds()
  }
}
