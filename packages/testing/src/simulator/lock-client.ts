import { setMaxListeners } from 'node:events'
import { boundedCall, ConnectionError } from '@es/coordination-core'
import { LockConnection, type LockLease } from './lock-connection.js'
import type { LockServer } from './lock-server.js'
import type { Wire } from './wire.js'

/** What a {@link LockClient} is made of. */
export interface LockClientOptions extends LockLease {
  readonly server: LockServer
  readonly wire: Wire
  /** Shown to whoever asks who holds a lock. */
  readonly name: string
}

/** How patient a caller is. */
export interface CallPatience {
  readonly timeoutSeconds?: number | undefined
  readonly signal?: AbortSignal | undefined
}

/** What an owner of locks is told. */
export interface LockListener {
  /** The session ended, and its locks with it. */
  lost(reason: Error): void
  /** The regular renewal succeeded. */
  renewed?(): void
}

/**
 * Locks of one instance, all on one session of a `LockServer` that is opened when it is needed and again after a loss. One request at a time, in order;
 * what a call that gave up still wins is let go of again.
 */
export class LockClient {
  readonly #options: LockClientOptions
  readonly #closing = new AbortController()
  readonly #listeners: LockListener[] = []
  #connection: LockConnection | null = null
  #turn: Promise<unknown> = Promise.resolve()

  constructor(options: LockClientOptions) {
    this.#options = options
    // Any number of calls may be under way; each listens.
    setMaxListeners(0, this.#closing.signal)
  }

  get signal(): AbortSignal {
    return this.#closing.signal
  }

  addListener(listener: LockListener): void {
    this.#listeners.push(listener)
  }

  /** The token under which `key` is held; `null` when it is not, or not certainly. */
  tokenOf(key: string): bigint | null {
    return this.#connection?.tokenOf(key) ?? null
  }

  /** Tries to lock `keys`, those aside that are held. @throws ConnectionError, or the signal's reason. */
  tryLock(keys: readonly string[], patience: CallPatience): Promise<void> {
    return this.#bounded('Asking for locks', patience, async (over) => {
      const connection = await this.#open()
      const missing = keys.filter((key) => !connection.held.has(key))
      if (missing.length === 0 || !this.#isServerOldEnough) return
      over.throwIfAborted()
      const locked = await connection.tryLock(missing)
      if (over.aborted) await connection.unlock(connection.beginRelease(locked))
    })
  }

  /** Lets go of `keys`, which are not held from the moment of the call. @throws ConnectionError; they end with the session then. */
  async unlock(keys: readonly string[]): Promise<void> {
    const connection = this.#connection
    const releasing = connection?.beginRelease(keys) ?? []
    if (connection === null || releasing.length === 0) return
    await this.#inTurn(() => connection.unlock(releasing))
  }

  /** Whether the server still holds the locks of this session. Never rejects. */
  async renew(): Promise<boolean> {
    const connection = this.#connection
    if (connection === null) return false
    try {
      await this.#inTurn(() => connection.confirm())
      return !connection.isOver
    } catch {
      return false
    }
  }

  /** Who holds `keys`, by name. @throws as {@link tryLock}. */
  holders(keys: readonly string[], patience: CallPatience = {}): Promise<ReadonlyMap<string, string>> {
    return this.#bounded('Asking who holds locks', patience, async () => (await this.#open()).holders(keys))
  }

  /** Ends the session. Calls under way, and later ones, reject with `closed`. */
  close(): void {
    const reason = new ConnectionError('closed', 'The simulated lock client was closed')
    this.#closing.abort(reason)
    this.#connection?.hangUp(reason)
    this.#connection = null
  }

  /** Has the server end the session, as an administrator does, or the operating system of a process that has died. */
  endSession(): void {
    this.#connection?.endFromOutside()
  }

  get #isServerOldEnough(): boolean {
    const { server, leaseSeconds } = this.#options
    return server.upSeconds >= leaseSeconds
  }

  #bounded<T>(what: string, { timeoutSeconds, signal }: CallPatience, work: (over: AbortSignal) => Promise<T>): Promise<T> {
    const { clock } = this.#options
    return boundedCall({ clock, what, timeoutSeconds, signals: [signal, this.#closing.signal] }, ({ signal: over }) =>
      this.#inTurn(async () => {
        over.throwIfAborted()
        return await work(over)
      }),
    )
  }

  #inTurn<T>(task: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(task)
    this.#turn = result.catch(() => {})
    return result
  }

  async #open(): Promise<LockConnection> {
    if (this.#connection !== null && !this.#connection.isOver) return this.#connection
    const { server, wire, name, clock, requestTimeoutSeconds } = this.#options
    let isGivenUp = false
    try {
      const session = await boundedCall(
        { clock, what: 'Connecting', timeoutSeconds: requestTimeoutSeconds, signals: [this.#closing.signal] },
        () =>
          wire
            .request(() => server.open(name))
            .then((opened) => {
              if (isGivenUp) wire.send(() => opened.close())
              return opened
            }),
      )
      const connection = new LockConnection(session, wire, this.#options, (reason) => this.#lost(connection, reason))
      this.#connection = connection
      connection.renewRegularly(async () => {
        if (await this.renew()) for (const listener of this.#listeners) listener.renewed?.()
      })
      return connection
    } catch (error) {
      isGivenUp = true
      throw error
    }
  }

  #lost(connection: LockConnection, reason: Error): void {
    if (this.#connection === connection) this.#connection = null
    for (const listener of this.#listeners) listener.lost(reason)
  }
}
