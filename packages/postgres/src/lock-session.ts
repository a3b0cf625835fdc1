import {
  boundedCall,
  type CancelTimer,
  type Clock,
  ConnectionError,
  errorMessage,
  type LogFields,
  type Logger,
  sleep,
} from '@es/coordination-core'
import type { LockKey } from './lock-key.js'
import { describeLockTable, isOutOfLocks, lockTableFull } from './lock-table.js'
import type { Row, Session } from './pg-session.js'
import { CHECK, HOLDERS, type Statement, TRY_LOCK, TRY_LOCK_WITHIN, UNLOCK, UNLOCK_STRAY, waitForLock } from './statements.js'
import { Turns } from './turns.js'

/** Who holds a lock, as the server shows it to anybody. */
export interface LockHolder {
  readonly backendPid: number
  /** At most 63 bytes: the server cuts it. */
  readonly applicationName: string
  /** When the holder connected; null to a role that may not see it. */
  readonly connectedAt: Date | null
}

/** What a {@link LockSession} is made of. */
export interface LockSessionOptions {
  /** Opens a connection; called again after each loss. Rejects with a ConnectionError, or with the reason of `signal`. */
  readonly open: (signal: AbortSignal) => Promise<Session>
  readonly leaseSeconds: number
  readonly renewDeadlineSeconds: number
  readonly waitSliceSeconds: number
  /** Bounds the opening of a session and every statement of one that holds no lock; one that holds locks is bounded by the trust in them. */
  readonly requestTimeoutSeconds: number
  readonly clock: Clock
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

/** An open session together with what is known of it. */
interface Tenure {
  readonly session: Session
  /** Fencing token of every lock that the server holds for us. Changed by the statement that has the turn only. */
  readonly held: Map<LockKey, bigint>
  /** Locks whose release has been asked for. */
  readonly releasing: Set<LockKey>
  /** Monotonic time until which the locks are certainly ours. */
  trustedUntil: number
  cancelDeadline: CancelTimer
  cancelRenewal: CancelTimer
  /** Rejects the statement under way. */
  interrupt: (reason: Error) => void
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
  readonly #listeners = new Set<LockSessionListener>()
  #tenure: Tenure | null = null
  #renewal: Promise<boolean> | null = null

  constructor(options: LockSessionOptions) {
    this.#options = options
  }

  /** Whoever holds locks here must listen: a loss concerns all locks of the session. */
  addListener(listener: LockSessionListener): void {
    this.#listeners.add(listener)
  }

  removeListener(listener: LockSessionListener): void {
    this.#listeners.delete(listener)
  }

  /** The fencing token under which `key` is held now, `null` when it is not or when that is no longer certain. */
  tokenOf(key: LockKey): bigint | null {
    const tenure = this.#tenure
    if (tenure === null || tenure.releasing.has(key) || this.#now() >= tenure.trustedUntil) return null
    return tenure.held.get(key) ?? null
  }

  /**
   * Tries to lock all of `keys` without waiting; keys already held are left as they are. Afterwards {@link tokenOf} tells which are held.
   *
   * @throws ConnectionError when the server could not be asked within `timeoutSeconds`.
   * @throws ConnectionError `lock_table_full` when the server's lock table has no room, or less than `tableShare` leaves. Nothing new is locked then.
   * @throws the signal's reason when it aborts. What a call that gave up may still win is unlocked again.
   */
  tryLock(keys: readonly LockKey[], options: TryLockOptions = {}): Promise<void> {
    return this.#lock(keys, options, { statement: (missing) => this.#tryAll(missing, options.tableShare), isPatient: false })
  }

  /**
   * Waits for `key`, no longer than one slice. Only for a session that holds nothing, whose locks could not be renewed meanwhile.
   *
   * @throws as {@link tryLock}.
   */
  waitForLock(key: LockKey, options: CallOptions = {}): Promise<void> {
    const { waitSliceSeconds, requestTimeoutSeconds } = this.#options
    const statement = (): Promise<readonly Row[]> => this.#ask(waitForLock(key), [], waitSliceSeconds + requestTimeoutSeconds)
    return this.#lock([key], options, { statement, isPatient: true })
  }

  /**
   * Unlocks `keys`; {@link tokenOf} is `null` for them from the moment of the call.
   *
   * @throws ConnectionError when the server could not be told; the session has ended then, and with it the locks.
   */
  async unlock(keys: readonly LockKey[]): Promise<void> {
    const tenure = this.#tenure
    if (tenure === null) return
    const releasing = keys.filter((key) => tenure.held.has(key) && !tenure.releasing.has(key))
    if (releasing.length === 0) return
    for (const key of releasing) tenure.releasing.add(key)
    await this.#turns.take(async () => {
      if (this.#tenure === tenure) await this.#unlock(tenure, releasing)
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
      await this.#openTenure()
      const rows = await this.#ask(HOLDERS, [keys])
      return new Map(rows.map((row) => [String(row['key']), readHolder(row)]))
    })
  }

  /** Ends the session; the server frees its locks as soon as it notices. Pending calls reject with `closed`, as do later ones. Idempotent, never rejects. */
  async close(): Promise<void> {
    // A statement under way would make taking leave wait for its answer.
    const isPolite = this.#turns.isIdle
    this.#closing.abort(closedError())
    const tenure = this.#forget(closedError())
    for (const listener of this.#listeners) listener.closed?.()
    if (tenure === null) return
    if (isPolite) await tenure.session.end(this.#options.requestTimeoutSeconds)
    else tenure.session.destroy(closedError())
  }

  /** Runs `work` in turn, for a caller of bounded patience. */
  #bounded<T>(what: string, { timeoutSeconds, signal }: CallOptions, work: (over: AbortSignal) => Promise<T>): Promise<T> {
    return boundedCall({ clock: this.#options.clock, what, timeoutSeconds, signals: [signal] }, (over) =>
      this.#turns.take(async () => {
        over.throwIfAborted()
        return await work(over)
      }),
    )
  }

  #lock(keys: readonly LockKey[], options: CallOptions, { statement, isPatient }: LockAttempt): Promise<void> {
    return this.#bounded('Asking for a lock', options, async (over) => {
      const tenure = await this.#openTenure()
      over.throwIfAborted()
      const missing = keys.filter((key) => !tenure.held.has(key))
      if (missing.length === 0 || !(await this.#isServerOldEnough(tenure, isPatient, over))) return
      const sentAt = this.#now()
      const [row] = await statement(missing)
      const locked = (row?.['locked'] ?? []) as readonly LockKey[]
      if (locked.length === 0) return
      // The answer confirms the new locks, so it may begin the trust (L1), but it says nothing of older ones.
      if (tenure.held.size === 0) tenure.trustedUntil = sentAt + this.#options.renewDeadlineSeconds
      const token = BigInt(String(row?.['token']))
      for (const key of locked) tenure.held.set(key, token)
      const { requestTimeoutSeconds } = this.#options
      // The caller has gone: nobody would ever release what was won for it.
      if (over.aborted) await this.#unlock(tenure, locked, requestTimeoutSeconds)
      // The wait may have used up the trust (L1), or left too little of it for the time until the next renewal.
      else if (isPatient) await this.#confirm(tenure, requestTimeoutSeconds)
      else this.#watchDeadline(tenure)
    })
  }

  /** L7. */
  async #tryAll(missing: readonly LockKey[], tableShare: number | undefined): Promise<readonly Row[]> {
    try {
      if (tableShare === undefined) return await this.#ask(TRY_LOCK, [missing])
      const rows = await this.#ask(TRY_LOCK_WITHIN, [missing, tableShare])
      if (rows[0]?.['fits'] === false) throw lockTableFull(describeLockTable(rows[0], missing.length))
      return rows
    } catch (error) {
      if (!isOutOfLocks(error)) throw error
      await this.#ask(UNLOCK_STRAY, [missing])
      throw lockTableFull(`a batch of ${missing.length} locks did not fit`, error)
    }
  }

  async #unlock(tenure: Tenure, keys: readonly LockKey[], limitSeconds?: number): Promise<void> {
    // So that nobody takes them for ours, or unlocks them once more, while the answer is under way.
    for (const key of keys) tenure.releasing.add(key)
    const [row] = await this.#ask(UNLOCK, [keys], limitSeconds)
    for (const key of keys) {
      tenure.held.delete(key)
      tenure.releasing.delete(key)
    }
    if (Number(row?.['unlocked']) !== keys.length) throw this.#doubt('The server did not hold a lock that was to be released')
    this.#watchDeadline(tenure)
  }

  async #check(): Promise<boolean> {
    const tenure = this.#tenure
    if (tenure === null) return false
    if (tenure.held.size > 0 && this.#now() >= tenure.trustedUntil) {
      this.#doubt('The lease could not be renewed in time')
      return false
    }
    try {
      await this.#confirm(tenure)
      return true
    } catch {
      // #ask and #doubt have ended the session and reported why.
      return false
    }
  }

  /** Renews the trust, or ends the session. The caller has the turn. */
  async #confirm(tenure: Tenure, limitSeconds?: number): Promise<void> {
    const sentAt = this.#now()
    const [row] = await this.#ask(CHECK, [], limitSeconds)
    const checksum = [...tenure.held.keys()].reduce((sum, key) => sum + BigInt(key), 0n)
    if (row?.['is_standby'] !== false) throw this.#doubt('The server is no longer the primary')
    if (Number(row['locks']) !== tenure.held.size || row['checksum'] !== String(checksum)) {
      throw this.#doubt('The server does not hold exactly the locks of this session')
    }
    tenure.trustedUntil = sentAt + this.#options.renewDeadlineSeconds
    this.#watchDeadline(tenure)
  }

  /** The open session, or a new one. */
  async #openTenure(): Promise<Tenure> {
    this.#closing.signal.throwIfAborted()
    const present = this.#tenure
    if (present !== null) {
      if (present.held.size === 0 || this.#now() < present.trustedUntil) return present
      this.#doubt('The lease could not be renewed in time')
    }
    const session = await this.#options.open(this.#closing.signal)
    if (this.#closing.signal.aborted) {
      // Opened in the very instant of the closing, which did not see it.
      session.destroy(closedError())
      throw closedError()
    }
    const tenure: Tenure = {
      session,
      held: new Map(),
      releasing: new Set(),
      trustedUntil: Number.NEGATIVE_INFINITY,
      cancelDeadline: () => {},
      cancelRenewal: () => {},
      interrupt: () => {},
    }
    this.#tenure = tenure
    void session.ended.then((reason) => {
      if (this.#tenure === tenure) this.#end(reason)
    })
    this.#scheduleRenewal(tenure)
    return tenure
  }

  /** L5. Only a patient caller waits for it, for one slice at most. */
  async #isServerOldEnough({ session }: Tenure, isPatient: boolean, signal: AbortSignal): Promise<boolean> {
    const { leaseSeconds, waitSliceSeconds, clock } = this.#options
    const missingSeconds = leaseSeconds - (session.serverUpSeconds + this.#now() - session.openedAt)
    if (missingSeconds <= 0) return true
    if (isPatient) await sleep(Math.min(missingSeconds, waitSliceSeconds), { clock, signal })
    return false
  }

  /** Sends one statement; the caller has the turn. Any failure ends the session (L4). */
  async #ask(statement: Statement | string, values: readonly unknown[], limitSeconds?: number): Promise<readonly Row[]> {
    const tenure = this.#tenure
    if (tenure === null) {
      this.#closing.signal.throwIfAborted()
      throw new ConnectionError('connection_lost', 'The lock session ended before the statement was sent')
    }
    const { clock, requestTimeoutSeconds } = this.#options
    const timeoutSeconds = limitSeconds ?? (tenure.held.size > 0 ? tenure.trustedUntil - this.#now() : requestTimeoutSeconds)
    const cancelTimer = clock.setTimer(timeoutSeconds, () => {
      if (this.#tenure === tenure)
        this.#end(new ConnectionError('timed_out', `The server did not answer within ${timeoutSeconds.toFixed(1)} s`))
    })
    try {
      return await new Promise((resolve, reject) => {
        tenure.interrupt = reject
        tenure.session.query(statement, values).then(resolve, reject)
      })
    } catch (error) {
      if (error instanceof ConnectionError) throw error
      if ((statement === TRY_LOCK || statement === TRY_LOCK_WITHIN) && isOutOfLocks(error)) throw error
      throw this.#doubt(`A statement failed: ${errorMessage(error)}`, error)
    } finally {
      cancelTimer()
    }
  }

  /** Ends the session because of `message`; returns the error to throw. */
  #doubt(message: string, cause?: unknown): ConnectionError {
    const reason = new ConnectionError('connection_lost', message, { cause })
    this.#end(reason)
    return reason
  }

  #end(reason: Error): void {
    const tenure = this.#forget(reason)
    if (tenure === null) return
    tenure.session.destroy(reason)
    const { logger, fields } = this.#options
    if (tenure.held.size > 0)
      logger.warn({ ...fields, locks: tenure.held.size, reason }, `The lock session ended, and its locks with it: ${reason.message}`)
    else logger.debug({ ...fields, reason }, `The lock session ended: ${reason.message}`)
    for (const listener of this.#listeners) listener.lost(reason)
  }

  #forget(reason: Error): Tenure | null {
    const tenure = this.#tenure
    if (tenure === null) return null
    this.#tenure = null
    tenure.cancelDeadline()
    tenure.cancelRenewal()
    tenure.interrupt(reason)
    return tenure
  }

  /** L2: reports that trust ran out, even when nothing answers. */
  #watchDeadline(tenure: Tenure): void {
    tenure.cancelDeadline()
    if (this.#tenure !== tenure || tenure.held.size === 0) return
    tenure.cancelDeadline = this.#options.clock.setTimer(tenure.trustedUntil - this.#now(), () => {
      if (this.#tenure === tenure) this.#doubt('The lease could not be renewed in time')
    })
  }

  /** One at a time, and a third of the lease apart as sent, not as answered: a slow answer must not put off the next renewal too. */
  #scheduleRenewal(tenure: Tenure, alreadyWaitedSeconds = 0): void {
    tenure.cancelRenewal = this.#options.clock.setTimer(this.#options.leaseSeconds / 3 - alreadyWaitedSeconds, () => {
      const startedAt = this.#now()
      // Whatever has the turn now is talking to the server; only locks need more than that.
      const renewed = this.#turns.isIdle || tenure.held.size > 0 ? this.renew() : Promise.resolve(true)
      void renewed.then((isRenewed) => {
        if (this.#tenure !== tenure) return
        this.#scheduleRenewal(tenure, this.#now() - startedAt)
        if (isRenewed) for (const listener of this.#listeners) listener.renewed()
      })
    })
  }

  #now(): number {
    return this.#options.clock.monotonicSeconds()
  }
}

interface LockAttempt {
  readonly statement: (missing: readonly LockKey[]) => Promise<readonly Row[]>
  readonly isPatient: boolean
}

function readHolder(row: Row): LockHolder {
  const connectedAt = row['backend_start']
  return {
    backendPid: Number(row['pid']),
    applicationName: String(row['application_name'] ?? ''),
    connectedAt: connectedAt instanceof Date ? connectedAt : null,
  }
}

function closedError(): ConnectionError {
  return new ConnectionError('closed', 'The lock session was closed')
}
