import { boundedCall, type CallLimit, ConnectionError, type LogFields, type Logger, sleep } from '@es/coordination-core'
import { LeasedSession, type LeaseOptions } from './leased-session.js'
import { type LockHolder, readHolder } from './lock-holder.js'
import type { LockKey } from './lock-key.js'
import type { Row, Session } from './pg-session.js'
import { HOLDERS, waitForLock } from './statements.js'
import { Turns } from './turns.js'

/** What a {@link LockSession} is made of. */
export interface LockSessionOptions extends LeaseOptions {
  /** Opens a connection; called again after each loss. Rejects with a ConnectionError, or with the reason of `signal`. */
  readonly open: (signal: AbortSignal) => Promise<Session>
  readonly waitSliceSeconds: number
  /** Must not throw, see `safeLogger`. */
  readonly logger: Logger
  /** Goes into every log line. */
  readonly fields: LogFields
}

/** What an owner of locks in a {@link LockSession} is told. Must not throw. */
export interface LockSessionListener {
  /** A session ended other than by {@link LockSession.close}; its locks are gone already. Once a session. */
  lost(reason: Error): void
  /** The regular renewal succeeded: once a third of the lease while a session is open. */
  renewed(): void
  /** The session was closed, and its locks are gone. Only for listeners that do not close it themselves. */
  closed?(): void
}

/** How patient the caller of a {@link LockSession} is. */
export interface CallOptions {
  readonly timeoutSeconds?: number | undefined
  readonly signal?: AbortSignal | undefined
}

interface TryLockOptions extends CallOptions {
  /** Share of the server's lock table, in (0, 1], beyond which the batch is refused as a whole. Not looked at by default, as suits a single lock. */
  readonly tableShare?: number | undefined
}

/**
 * Advisory locks on one dedicated connection, held under a lease that the server enforces.
 *
 * Who is authoritative: the server. It ends the session `leaseSeconds` after the last statement, and with it the locks. This side trusts
 * a lock only until `renewDeadlineSeconds` after it *sent* the last statement that confirmed it. As
 * that is sooner, it has always given up before the server can give the lock to another; the argument needs no clock comparison, only
 * clocks that run at about the same rate.
 *
 * - L1. Trust starts when the confirming statement is sent, not when its answer arrives.
 * - L2. Trust is computed from the clock, so it is gone on the first line that runs after a pause; a timer only reports it.
 * - L3. Renewal checks, and never locks again: session locks stack.
 * - L4. Any doubt (an error, a timeout, a wrong answer, trust that ran out) ends the session and so all of its locks; it is
 *   reported exactly once. A statement that was never sent leaves no doubt.
 * - L5. A server that restarted forgot all locks, but a paused or cut-off holder did not: nothing is locked until the server
 *   has been up for one lease.
 * - L6. One statement at a time, in order; what comes late from a session that ended changes nothing.
 * - L7. A full lock table is an answer and no doubt: it costs the batch, and never the other locks. Session locks outlive the failed statement that
 *   took them, so those are unlocked again.
 */
export class LockSession {
  readonly #options: LockSessionOptions
  readonly #turns = new Turns()
  readonly #closing = new AbortController()
  readonly #owners = new Map<string, LockSessionListener>()
  #leased: LeasedSession | null = null
  #renewal: Promise<boolean> | null = null

  constructor(options: LockSessionOptions) {
    this.#options = options
  }

  /**
   * Whoever holds locks here must listen: a loss concerns all locks of the session.
   *
   * @param name which locks it is about: two owners of one lock would each think it theirs alone.
   * @returns `false`, and nothing is added, when somebody is there under that name.
   */
  addOwner(name: string, listener: LockSessionListener): boolean {
    if (this.#owners.has(name)) return false
    this.#owners.set(name, listener)
    return true
  }

  removeOwner(name: string): void {
    this.#owners.delete(name)
  }

  /** The fencing token under which `key` is held now, `null` when it is not or when that is no longer certain. */
  tokenOf(key: LockKey): bigint | null {
    return this.#leased?.tokenOf(key) ?? null
  }

  /**
   * Tries to lock all of `keys` without waiting; keys already held are left as they are. Afterwards {@link tokenOf} tells which are held.
   *
   * @throws ConnectionError when the server could not be asked within `timeoutSeconds`.
   * @throws ConnectionError `lock_table_full` when the server's lock table has no room, or less than `tableShare` leaves. Nothing new is locked then.
   * @throws the signal's reason when it aborts. What a call that gave up may still win is unlocked again.
   */
  tryLock(keys: readonly LockKey[], options: TryLockOptions = {}): Promise<void> {
    return this.#lock(keys, options, {
      statement: (leased, missing) => leased.tryLock(missing, options.tableShare),
      isPatient: false,
    })
  }

  /**
   * Waits for `key`, no longer than one slice. Only for a session that holds nothing, whose locks could not be renewed meanwhile.
   *
   * @throws as {@link tryLock}.
   */
  waitForLock(key: LockKey, options: CallOptions = {}): Promise<void> {
    const { waitSliceSeconds, requestTimeoutSeconds } = this.#options
    return this.#lock([key], options, {
      statement: (leased) => leased.ask(waitForLock(key), [], waitSliceSeconds + requestTimeoutSeconds),
      isPatient: true,
    })
  }

  /**
   * Unlocks `keys`; {@link tokenOf} is `null` for them from the moment of the call.
   *
   * @throws ConnectionError when the server could not be told; the session has ended then, and with it the locks.
   */
  async unlock(keys: readonly LockKey[]): Promise<void> {
    const leased = this.#leased
    if (leased === null) return
    const releasing = leased.beginRelease(keys)
    if (releasing.length === 0) return
    await this.#turns.take(async () => {
      if (this.#leased === leased) await leased.unlock(releasing)
    })
  }

  /** Asks the server whether this session still holds its locks. Never rejects; `false` when the session ended, or was not open. */
  renew(): Promise<boolean> {
    this.#renewal ??= this.#turns
      .take(() => this.#check())
      .finally(() => {
        this.#renewal = null
      })
    return this.#renewal
  }

  /** Who holds each of `keys`; a key that nobody holds is missing. @throws as {@link tryLock}. */
  holders(keys: readonly LockKey[], options: CallOptions = {}): Promise<ReadonlyMap<LockKey, LockHolder>> {
    return this.#bounded('Asking who holds a lock', options, async () => {
      const leased = await this.#openLeased()
      const rows = await leased.ask(HOLDERS, [keys])
      return new Map(rows.map((row) => [String(row.key), readHolder(row)]))
    })
  }

  /** Ends the session; the server frees its locks as soon as it notices. Pending calls reject with `closed`, as do later ones. Idempotent, never rejects. */
  async close(): Promise<void> {
    // A statement under way would make taking leave wait for its answer.
    const isPolite = this.#turns.isIdle
    this.#closing.abort(closedError())
    const leased = this.#leased
    this.#leased = null
    leased?.stop(closedError())
    for (const listener of this.#owners.values()) listener.closed?.()
    if (isPolite) await leased?.session.end(this.#options.requestTimeoutSeconds)
    else leased?.session.destroy(closedError())
  }

  /** Runs `work` in turn (L6), for a caller of bounded patience. */
  #bounded<T>(what: string, { timeoutSeconds, signal }: CallOptions, work: (limit: CallLimit) => Promise<T>): Promise<T> {
    return boundedCall({ clock: this.#options.clock, what, timeoutSeconds, signals: [signal] }, (limit) =>
      this.#turns.take(async () => {
        limit.throwIfOver()
        return await work(limit)
      }),
    )
  }

  #lock(keys: readonly LockKey[], options: CallOptions, { statement, isPatient }: LockAttempt): Promise<void> {
    return this.#bounded('Asking for a lock', options, async (limit) => {
      const leased = await this.#openLeased()
      limit.throwIfOver()
      const missing = keys.filter((key) => !leased.held.has(key))
      if (missing.length === 0 || !(await this.#isServerOldEnough(leased.session, isPatient, limit))) return
      const sentAt = this.#now()
      const [row] = await statement(leased, missing)
      const locked = leased.adopt(row, sentAt)
      if (locked.length === 0) return
      const { requestTimeoutSeconds } = this.#options
      // The caller has gone: nobody would ever release what was won for it.
      if (limit.isOver) await leased.unlock(leased.beginRelease(locked), requestTimeoutSeconds)
      // The wait may have used up the trust (L1), or left too little of it for the time until the next renewal.
      else if (isPatient) await leased.confirm(requestTimeoutSeconds)
      else leased.watchDeadline()
    })
  }

  /** The open session, or a new one. */
  async #openLeased(): Promise<LeasedSession> {
    this.#closing.signal.throwIfAborted()
    const present = this.#leased
    if (present !== null && !present.endIfOverdue()) return present
    const session = await this.#options.open(this.#closing.signal)
    if (this.#closing.signal.aborted) {
      // Opened in the very instant of the closing, which did not see it.
      session.destroy(closedError())
      throw closedError()
    }
    const leased: LeasedSession = new LeasedSession(session, this.#options, {
      renewalDue: () => this.#renewRegularly(leased),
      lost: (reason) => this.#lost(leased, reason),
    })
    this.#leased = leased
    leased.start()
    return leased
  }

  /** L5. Only a patient caller waits for it, for one slice at most. */
  async #isServerOldEnough(session: Session, isPatient: boolean, limit: CallLimit): Promise<boolean> {
    const { leaseSeconds, waitSliceSeconds, clock } = this.#options
    const missingSeconds = leaseSeconds - (session.serverUpSeconds + this.#now() - session.openedAt)
    if (missingSeconds <= 0) return true
    if (isPatient) await sleep(Math.min(missingSeconds, waitSliceSeconds), { clock, signal: limit.signal })
    return false
  }

  async #check(): Promise<boolean> {
    const leased = this.#leased
    if (leased === null || leased.endIfOverdue()) return false
    try {
      await leased.confirm()
      return true
    } catch {
      // The session has ended, and reported why.
      return false
    }
  }

  async #renewRegularly(leased: LeasedSession): Promise<void> {
    // Whatever has the turn now is talking to the server; only locks need more than that.
    const isRenewed = this.#turns.isIdle || leased.held.size > 0 ? await this.renew() : true
    if (isRenewed && this.#leased === leased) for (const listener of this.#owners.values()) listener.renewed()
  }

  #lost({ held }: LeasedSession, reason: Error): void {
    this.#leased = null
    const { logger, fields } = this.#options
    if (held.size > 0)
      logger.warn({ ...fields, locks: held.size, reason }, `The lock session ended, and its locks with it: ${reason.message}`)
    else logger.debug({ ...fields, reason }, `The lock session ended: ${reason.message}`)
    for (const listener of this.#owners.values()) listener.lost(reason)
  }

  #now(): number {
    return this.#options.clock.monotonicSeconds()
  }
}

interface LockAttempt {
  readonly statement: (leased: LeasedSession, missing: readonly LockKey[]) => Promise<readonly Row[]>
  readonly isPatient: boolean
}

function closedError(): ConnectionError {
  return new ConnectionError('closed', 'The lock session was closed')
}
