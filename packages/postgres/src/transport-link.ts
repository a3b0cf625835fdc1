import { type Clock, ConnectionError, errorMessage } from '@es/coordination-core'
import type { Row, Session } from './pg-session.js'
import { NOTIFY, NOTIFY_ALL, PING, relisten } from './postgres-transport-statements.js'
import type { Statement } from './statements.js'
import { privateChannel } from './transport-channel.js'
import { Turns } from './turns.js'

/** What a {@link TransportLink} is made of. */
export interface TransportLinkOptions {
  /** Opens the connection and sends its notifications to `onNotification`. Rejects with a ConnectionError. */
  readonly open: (onNotification: (channel: string, payload: string) => void) => Promise<Session>
  /** Bounds every statement, and the echo. */
  readonly requestTimeoutSeconds: number
  /** Gives the opening up; it does not end a link that is open. */
  readonly signal: AbortSignal
  readonly clock: Clock
  /** Told of every notification that is not an echo. Must not throw. */
  readonly onNotification: (channel: string, payload: string) => void
}

/** One connection that listens and notifies. A statement that is not answered in time ends it. */
export class TransportLink {
  readonly #options: TransportLinkOptions
  readonly #session: Session
  readonly #echoes: Echoes
  readonly #listening = new Set<string>()
  /** A session takes one statement at a time, and publishers do not wait for each other. */
  readonly #turns = new Turns()
  readonly #interrupts = new Set<(reason: Error) => void>()
  #endedBecause: Error | null = null

  /**
   * Opens a connection, and makes sure that notifications come through on it. Rejects with a ConnectionError.
   *
   * @param prepare what else must be done before the link is open.
   */
  static async open(options: TransportLinkOptions, prepare: (link: TransportLink) => Promise<void>): Promise<TransportLink> {
    const { signal } = options
    const echoes = new Echoes()
    const session = await options.open((channel, payload) => {
      if (channel === echoes.channel) {
        echoes.arrived(payload)
        return
      }
      echoes.heardAt = options.clock.monotonicSeconds()
      options.onNotification(channel, payload)
    })
    const link = new TransportLink(options, session, echoes)
    const giveUp = (): void => link.destroy(signal.reason)
    signal.addEventListener('abort', giveUp)
    try {
      await link.#ask(relisten([echoes.channel], []))
      await link.echo()
      await prepare(link)
      signal.throwIfAborted()
      return link
    } catch (error) {
      link.destroy(error as Error)
      throw error
    } finally {
      signal.removeEventListener('abort', giveUp)
    }
  }

  private constructor(options: TransportLinkOptions, session: Session, echoes: Echoes) {
    this.#options = options
    this.#session = session
    this.#echoes = echoes
    void session.ended.then((reason) => {
      this.#endedBecause = reason
      for (const interrupt of this.#interrupts) interrupt(reason)
    })
  }

  /** Resolves, never rejects, when the link is over for whatever reason. */
  get ended(): Promise<Error> {
    return this.#session.ended
  }

  /** The channels listened to, other than the private one. */
  get listening(): ReadonlySet<string> {
    return this.#listening
  }

  async relisten(add: readonly string[], drop: readonly string[]): Promise<void> {
    await this.#ask(relisten(add, drop))
    for (const channel of add) this.#listening.add(channel)
    for (const channel of drop) this.#listening.delete(channel)
  }

  /** Sends `payloads`, all or none. @throws ConnectionError `statement_failed` when the server refused them, and the link goes on; otherwise it is over. */
  async notify(channel: string, payloads: readonly string[]): Promise<void> {
    if (payloads.length === 1) await this.#ask(NOTIFY, [channel, payloads[0]])
    else await this.#ask(NOTIFY_ALL, [channel, payloads])
  }

  /** Sends a notification to itself and waits for it: the only proof that subscriptions work. Rejects, and ends the link, when it does not come in time. */
  async echo(): Promise<void> {
    const { nonce, heard } = this.#echoes.next()
    await this.#ask(NOTIFY, [this.#echoes.channel, nonce])
    await this.#bounded('The echo of a notification did not arrive', () => heard)
  }

  /**
   * Makes sure that the link works in both directions, and rejects, and ends it, when it does not. Resolves to the monotonic time at which
   * notifications were last known to come through. Whatever was heard after `since` proves that too, and costs the others nothing: an echo
   * wakes up every session that listens in the database.
   */
  async prove(since: number): Promise<number> {
    const { heardAt } = this.#echoes
    if (heardAt > since) {
      await this.#ask(PING)
      return heardAt
    }
    await this.echo()
    return this.#options.clock.monotonicSeconds()
  }

  /** Ends the link at once. Idempotent. */
  destroy(reason: Error): void {
    this.#session.destroy(reason)
  }

  /** Takes leave of the server, if it is not busy; bounded, never rejects. */
  async end(): Promise<void> {
    const reason = new ConnectionError('closed', 'The transport was closed')
    // For whoever asks from now on.
    this.#endedBecause ??= reason
    if (this.#interrupts.size > 0) this.destroy(reason)
    else await this.#session.end(this.#options.requestTimeoutSeconds)
  }

  /** The time in which the server has to answer begins with the turn: others may be waiting on a link that is slow and well. */
  #ask(statement: Statement | string, values: readonly unknown[] = []): Promise<readonly Row[]> {
    return this.#turns.take(() => this.#bounded('The server did not answer', () => this.#session.query(statement, values)))
  }

  async #bounded<T>(what: string, work: () => Promise<T>): Promise<T> {
    if (this.#endedBecause !== null) throw this.#endedBecause
    const { clock, requestTimeoutSeconds } = this.#options
    let interrupt: (reason: Error) => void = () => {}
    const cancelTimer = clock.setTimer(requestTimeoutSeconds, () =>
      this.destroy(new ConnectionError('timed_out', `${what} within ${requestTimeoutSeconds} s`)),
    )
    try {
      return await new Promise<T>((resolve, reject) => {
        interrupt = reject
        this.#interrupts.add(interrupt)
        work().then(resolve, reject)
      })
    } catch (error) {
      throw this.#failure(error)
    } finally {
      cancelTimer()
      this.#interrupts.delete(interrupt)
    }
  }

  #failure(error: unknown): ConnectionError {
    if (error instanceof ConnectionError) return error
    const sqlState = String((error as { code?: unknown } | null)?.code ?? '')
    // A refused statement leaves the session as it was; one that ends with the session (class 57P, 08) or without an SQLSTATE does not.
    if (/^(?!57P|08)[0-9A-Z]{5}$/.test(sqlState)) {
      return new ConnectionError('statement_failed', `The server refused a statement: ${errorMessage(error)}`, { cause: error })
    }
    const reason = new ConnectionError('connection_lost', `The connection was lost: ${errorMessage(error)}`, { cause: error })
    this.destroy(reason)
    return reason
  }
}

/** Notifications from a connection to itself. */
class Echoes {
  /** Monotonic time at which any other notification was heard last. */
  heardAt = Number.NEGATIVE_INFINITY
  readonly channel = privateChannel()
  readonly #waiting = new Map<string, () => void>()
  #count = 0

  next(): { readonly nonce: string; readonly heard: Promise<void> } {
    const nonce = String(++this.#count)
    return { nonce, heard: new Promise((resolve) => this.#waiting.set(nonce, resolve)) }
  }

  arrived(nonce: string): void {
    this.#waiting.get(nonce)?.()
    this.#waiting.delete(nonce)
  }
}
