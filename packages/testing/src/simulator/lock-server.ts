import { type CancelTimer, type Clock, ConnectionError } from '@es/coordination-core'

/** What a batch of locks brought. */
export interface LockedBatch {
  /** Those of the batch that this session holds now. */
  readonly locked: readonly string[]
  /** Of a transaction that began after they were locked: larger than all before. Means nothing where nothing was locked. */
  readonly token: bigint
}

/**
 * A server of locks as a database with session locks is one, in one process and in virtual time.
 *
 * - Locks belong to a session, end with it, and stack: locked twice, a lock survives one unlock.
 * - A session from which nothing was heard for `leaseSeconds` is ended.
 * - A restart forgets all sessions and locks, and no token. It says how long it has been up, since a holder that it forgot may not know yet.
 */
export class LockServer {
  readonly leaseSeconds: number
  readonly #clock: Clock
  readonly #sessions = new Set<LockServerSession>()
  readonly #holders = new Map<string, LockServerSession>()
  #lastToken = 0n
  #statements = 0
  #upSince = Number.NEGATIVE_INFINITY
  #isDown = false

  constructor({ clock, leaseSeconds }: { readonly clock: Clock; readonly leaseSeconds: number }) {
    this.#clock = clock
    this.leaseSeconds = leaseSeconds
  }

  /** What was asked of it, the openings of sessions included. */
  get statements(): number {
    return this.#statements
  }

  /** Every lock that is held. */
  get locks(): readonly string[] {
    return [...this.#holders.keys()]
  }

  /** For how long it has been up. */
  get upSeconds(): number {
    return this.#clock.monotonicSeconds() - this.#upSince
  }

  /**
   * @param name is shown to whoever asks who holds a lock.
   * @throws ConnectionError `unreachable` while the server is down.
   */
  open(name: string): LockServerSession {
    this.#statements++
    if (this.#isDown) throw new ConnectionError('unreachable', 'The simulated lock server is down: it comes up again by itself')
    const session = new LockServerSession(name, this.#clock, this.leaseSeconds, {
      stated: () => this.#statements++,
      holders: this.#holders,
      nextToken: () => ++this.#lastToken,
      ended: () => void this.#sessions.delete(session),
    })
    this.#sessions.add(session)
    return session
  }

  /** Ends every session, and opens none until {@link comeUp}. */
  goDown(): void {
    this.#isDown = true
    for (const session of [...this.#sessions]) session.end('The simulated lock server went down')
  }

  comeUp(): void {
    this.#isDown = false
    this.#upSince = this.#clock.monotonicSeconds()
  }
}

interface ServerSide {
  readonly holders: Map<string, LockServerSession>
  stated(): void
  nextToken(): bigint
  ended(): void
}

/** The server's end of one session. Whatever is asked of it throws a ConnectionError once it has ended. */
export class LockServerSession {
  readonly name: string
  /** Told once, when the session has ended otherwise than by its client. */
  onEnd: (reason: ConnectionError) => void = () => {}
  readonly #clock: Clock
  readonly #leaseSeconds: number
  readonly #server: ServerSide
  /** How often each lock is held. */
  readonly #depths = new Map<string, number>()
  #cancelLease: CancelTimer = () => {}
  #isOver = false

  constructor(name: string, clock: Clock, leaseSeconds: number, server: ServerSide) {
    this.name = name
    this.#clock = clock
    this.#leaseSeconds = leaseSeconds
    this.#server = server
    this.#rest()
  }

  /** Locks what is free. */
  tryLock(keys: readonly string[]): LockedBatch {
    this.#listen()
    const { holders } = this.#server
    const locked = keys.filter((key) => (holders.get(key) ?? this) === this)
    for (const key of locked) {
      holders.set(key, this)
      this.#depths.set(key, (this.#depths.get(key) ?? 0) + 1)
    }
    return { locked, token: locked.length > 0 ? this.#server.nextToken() : 0n }
  }

  /** Unlocks each once; returns how many were held. */
  unlock(keys: readonly string[]): number {
    this.#listen()
    let unlocked = 0
    for (const key of keys) {
      const depth = this.#depths.get(key)
      if (depth === undefined) continue
      unlocked++
      if (depth > 1) this.#depths.set(key, depth - 1)
      else {
        this.#depths.delete(key)
        this.#server.holders.delete(key)
      }
    }
    return unlocked
  }

  /** Every lock that this session holds. */
  check(): readonly string[] {
    this.#listen()
    return [...this.#depths.keys()]
  }

  /** The names of the sessions that hold `keys`. */
  holders(keys: readonly string[]): ReadonlyMap<string, string> {
    this.#listen()
    const found = new Map<string, string>()
    for (const key of keys) {
      const holder = this.#server.holders.get(key)
      if (holder !== undefined) found.set(key, holder.name)
    }
    return found
  }

  /** Ends it on the server, as an administrator does. */
  end(reason = 'The session was ended on the simulated lock server'): void {
    if (this.#isOver) return
    this.close()
    this.onEnd(new ConnectionError('connection_lost', reason))
  }

  /** Its client has hung up. */
  close(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#cancelLease()
    for (const key of this.#depths.keys()) this.#server.holders.delete(key)
    this.#depths.clear()
    this.#server.ended()
  }

  #listen(): void {
    this.#server.stated()
    if (this.#isOver) throw new ConnectionError('connection_lost', 'The session on the simulated lock server has ended')
    this.#rest()
  }

  #rest(): void {
    this.#cancelLease()
    this.#cancelLease = this.#clock.setTimer(this.#leaseSeconds, () => this.end('The lease on the simulated lock server ran out'))
  }
}
