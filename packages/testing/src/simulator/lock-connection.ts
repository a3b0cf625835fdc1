import { type CancelTimer, type Clock, ConnectionError, errorMessage } from '@es/coordination-core'
import type { LockedBatch, LockServerSession } from './lock-server.js'
import type { Wire } from './wire.js'

/** Asks the server, in one statement, which locks the session holds. An option, so that a wrong one can be put in its place. */
export type LockCheck = (session: LockServerSession, held: readonly string[]) => readonly string[]

/** How long the locks of a {@link LockConnection} last. */
export interface LockLease {
  /** The clock of the process. */
  readonly clock: Clock
  readonly leaseSeconds: number
  /** How long locks are trusted after the last successful check was sent. */
  readonly renewDeadlineSeconds: number
  /** Bounds each request of a connection without locks; one with locks is bounded by the trust in them. */
  readonly requestTimeoutSeconds: number
  readonly check: LockCheck
  /** The locks are certain until then, on `clock`. */
  readonly trusted: (untilSeconds: number) => void
}

/**
 * The client's end of one session of a `LockServer`, and what it may believe of its locks. Trust counts from before the last successful check was sent,
 * and is computed, not stored. Any doubt ends the session, once.
 */
export class LockConnection {
  readonly held = new Map<string, bigint>()
  readonly #session: LockServerSession
  readonly #wire: Wire
  readonly #lease: LockLease
  readonly #onLost: (reason: Error) => void
  readonly #releasing = new Set<string>()
  #trustedUntil = Number.NEGATIVE_INFINITY
  #over: Error | null = null
  #interrupt: (reason: Error) => void = () => {}
  #cancelDeadline: CancelTimer = () => {}
  #cancelRenewal: CancelTimer = () => {}

  constructor(session: LockServerSession, wire: Wire, lease: LockLease, onLost: (reason: Error) => void) {
    this.#session = session
    this.#wire = wire
    this.#lease = lease
    this.#onLost = onLost
    session.onEnd = (reason) => wire.notify(() => this.end(reason))
  }

  get isOver(): boolean {
    return this.#over !== null
  }

  /** The token under which `key` is held, `null` when it is not, or not certainly. */
  tokenOf(key: string): bigint | null {
    if (this.#over !== null || this.#releasing.has(key) || this.#now() >= this.#trustedUntil) return null
    return this.held.get(key) ?? null
  }

  /** Calls `renew` every third of the lease. */
  renewRegularly(renew: () => Promise<unknown>): void {
    this.#cancelRenewal = this.#lease.clock.setTimer(this.#lease.leaseSeconds / 3, () => {
      if (this.#over !== null) return
      this.renewRegularly(renew)
      void renew()
    })
  }

  async tryLock(keys: readonly string[]): Promise<readonly string[]> {
    const sentAt = this.#now()
    const { locked, token } = await this.#ask<LockedBatch>(() => this.#session.tryLock(keys))
    if (locked.length === 0) return locked
    // The answer confirms the new locks, and says nothing of older ones.
    if (this.held.size === 0) this.#trustedUntil = sentAt + this.#lease.renewDeadlineSeconds
    for (const key of locked) this.held.set(key, token)
    this.#watchDeadline()
    return locked
  }

  /** Ends the trust in `keys` at once; returns those that are to be unlocked. */
  beginRelease(keys: readonly string[]): readonly string[] {
    const releasing = keys.filter((key) => this.held.has(key) && !this.#releasing.has(key))
    for (const key of releasing) this.#releasing.add(key)
    return releasing
  }

  async unlock(keys: readonly string[]): Promise<void> {
    const unlocked = await this.#ask(() => this.#session.unlock(keys))
    for (const key of keys) {
      this.held.delete(key)
      this.#releasing.delete(key)
    }
    if (unlocked !== keys.length) this.#doubt('The server did not hold a lock that was to be released')
    this.#watchDeadline()
  }

  /** Asks whether the server still holds exactly these locks. @throws ConnectionError when not, or in any doubt; the session has ended then. */
  async confirm(): Promise<void> {
    const sentAt = this.#now()
    const held = [...this.held.keys()]
    const locks = await this.#ask(() => this.#lease.check(this.#session, held))
    // After a pause the answer may be read before the timer of the deadline fires: what has ended does not begin again.
    if (held.length > 0 && this.#now() >= this.#trustedUntil) this.#doubt('The lease could not be renewed in time')
    if (locks.length !== held.length || !locks.every((key) => this.held.has(key)))
      this.#doubt('The server does not hold exactly these locks')
    this.#trustedUntil = sentAt + this.#lease.renewDeadlineSeconds
    this.#watchDeadline()
  }

  holders(keys: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return this.#ask(() => this.#session.holders(keys))
  }

  /** The session is ended from outside. Both ends know in one instant: a holder that could not hear of it would go on trusting its lease. */
  endFromOutside(): void {
    this.#session.close()
    this.end(new ConnectionError('connection_lost', 'The session was ended on the simulated lock server'))
  }

  /** Hangs up, because of doubt. */
  end(reason: Error): void {
    if (this.hangUp(reason)) this.#onLost(reason)
  }

  /** Hangs up on the own account; `false` when it is over already. */
  hangUp(reason: Error): boolean {
    if (this.#over !== null) return false
    this.#over = reason
    this.#cancelDeadline()
    this.#cancelRenewal()
    this.#interrupt(reason)
    this.#wire.send(() => this.#session.close())
    return true
  }

  async #ask<T>(statement: () => T): Promise<T> {
    if (this.#over !== null) throw this.#over
    const limit = this.held.size > 0 ? this.#trustedUntil - this.#now() : this.#lease.requestTimeoutSeconds
    const cancel = this.#lease.clock.setTimer(limit, () => this.end(new ConnectionError('timed_out', 'The server did not answer in time')))
    try {
      return await new Promise((resolve, reject) => {
        this.#interrupt = reject
        this.#wire.request(statement).then(resolve, reject)
      })
    } catch (error) {
      this.end(error instanceof Error ? error : new Error(errorMessage(error)))
      throw error
    } finally {
      cancel()
    }
  }

  #watchDeadline(): void {
    this.#cancelDeadline()
    if (this.#over !== null || this.held.size === 0) return
    this.#lease.trusted(this.#trustedUntil)
    this.#cancelDeadline = this.#lease.clock.setTimer(this.#trustedUntil - this.#now(), () =>
      this.end(new ConnectionError('connection_lost', 'The lease could not be renewed in time')),
    )
  }

  #doubt(message: string): never {
    const reason = new ConnectionError('connection_lost', message)
    this.end(reason)
    throw reason
  }

  #now(): number {
    return this.#lease.clock.monotonicSeconds()
  }
}
