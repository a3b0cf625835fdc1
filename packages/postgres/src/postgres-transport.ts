import { randomBytes } from 'node:crypto'
import { CoordinationError, callSafely, type Logger, type Transport, type TransportHandler, type Unsubscribe } from '@es/coordination-core'
import { encodeApplicationName } from './application-name.js'
import { openSession, type Session } from './pg-session.js'
import { type ParsedTransportOptions, type PostgresTransportOptions, parseTransportOptions } from './postgres-transport-options.js'
import { TopicChannels } from './transport-channel.js'
import { type Registration, type TransportCounts, TransportDispatch } from './transport-dispatch.js'
import { encodeMessage, splitIntoFrames } from './transport-frames.js'
import { TransportLink } from './transport-link.js'
import { TransportLinkKeeper } from './transport-link-keeper.js'
import { Turns } from './turns.js'

/**
 * Broadcast by LISTEN and NOTIFY of a PostgreSQL server, 14 or later, over one connection of its own, so never inside a transaction of the user's. Reaches every
 * transport of the same namespace in the same database, the sender included.
 *
 * A message is one notification, or several frames sent in one statement when it is longer than 7,999 bytes; then all of it arrives or nothing. Messages of one
 * sender arrive in the order in which they were published. Messages that are sent while a transport is disconnected do not reach it:
 * {@link onResync} tells.
 *
 * The connection is opened by the first call that needs it and kept until {@link close}. It is checked every `healthCheckSeconds`, one statement each, the
 * only ones of an idle transport: a notification to itself where none was heard since, and otherwise a question that wakes up nobody. When it is lost, the next is opened at once, and after failures with jittered
 * backoff; subscriptions are renewed on it. The server itself ends the connection of a process that fell silent for three health checks and a
 * request timeout, so that a stopped process does not hold up the server's notification queue for ever.
 */
export class PostgresTransport implements Transport, AsyncDisposable {
  readonly #options: ParsedTransportOptions
  readonly #logger: Logger
  readonly #channels: TopicChannels
  readonly #dispatch: TransportDispatch
  readonly #keeper: TransportLinkKeeper
  /** One LISTEN or UNLISTEN at a time, in the order of the calls. */
  readonly #turns = new Turns()
  readonly #resyncCallbacks = new Set<{ readonly callback: () => void }>()
  readonly #senderId = randomBytes(9).toString('base64url')
  #sentCount = 0
  #closed: Promise<void> | null = null

  /** @throws CoordinationError `invalid_options` naming the option, its value and the rule; connects to nothing yet. */
  constructor(options: PostgresTransportOptions) {
    this.#options = parseTransportOptions(options)
    const { namespace, maxMessageBytes, clock, logger, applicationName } = this.#options
    const fields = { transport: applicationName, namespace }
    this.#logger = logger
    this.#channels = new TopicChannels(namespace)
    this.#dispatch = new TransportDispatch({ clock, logger, fields, maxMessageBytes })
    this.#keeper = new TransportLinkKeeper({
      ...this.#options,
      fields,
      open: (signal) => this.#open(signal),
      onOpen: (isAgain) => this.#opened(isAgain),
      onHealthy: () => this.#dispatch.expire(),
    })
  }

  /** Whether it is connected at this moment, as far as is known. */
  get isConnected(): boolean {
    return this.#keeper.current !== null
  }

  /** What was heard so far. */
  get counts(): TransportCounts {
    return this.#dispatch.counts
  }

  /**
   * Connects now instead of with the first call that needs it. Idempotent.
   *
   * @throws ConnectionError with a `code` that says why: `unreachable`, `timed_out`, `authentication_failed`, `transaction_pooler`, `standby`,
   *   `unsupported_server`, `settings_refused`, `closed`.
   */
  async connect(): Promise<void> {
    await this.#keeper.ready()
  }

  /**
   * See `Transport.publish`. Rejects at once while the connection is lost and the next attempt is being waited for: what is published on an
   * interval is soon published again, and late is worse than never. Waits for an attempt that is under way. `message` may be changed as soon as this returns.
   *
   * @throws ConnectionError as {@link connect}; `statement_failed` when the server refuses it; `connection_lost` or `timed_out` when it is not known whether it was sent.
   * @throws CoordinationError `message_too_large` beyond `maxMessageBytes`; `message_not_json`; `invalid_options` for a topic that is no name.
   */
  async publish(topic: string, message: Readonly<Record<string, unknown>>): Promise<void> {
    const channel = this.#channels.of(topic)
    const text = encodeMessage(message)
    const { maxMessageBytes } = this.#options
    if (text.length > maxMessageBytes) {
      throw new CoordinationError(
        'message_too_large',
        `The message on ${JSON.stringify(topic)} is ${text.length} bytes long, above maxMessageBytes = ${maxMessageBytes}`,
      )
    }
    const frames = splitIntoFrames(text, `${this.#senderId}-${++this.#sentCount}`)
    const link = await this.#keeper.ready()
    await link.notify(channel, frames)
  }

  /**
   * See `Transport.subscribe`. Every handler gets a copy of its own, and whatever JSON was sent on the channel; what is not JSON is counted, logged once and
   * dropped. The promise of an async handler is not waited for; its failure is logged.
   *
   * @throws ConnectionError as {@link publish}; the handler is not subscribed then.
   */
  async subscribe(topic: string, handler: TransportHandler): Promise<Unsubscribe> {
    const channel = this.#channels.of(topic)
    const registration: Registration = { topic, handler, state: 'waiting' }
    const unsubscribe = (): void => {
      this.#dispatch.remove(channel, registration)
      if (!this.#dispatch.has(channel)) this.#settle()
    }
    this.#dispatch.add(channel, registration)
    try {
      await this.#turns.take(async () => this.#reconcile(await this.#keeper.ready()))
    } catch (error) {
      unsubscribe()
      throw error
    }
    registration.state = 'active'
    return unsubscribe
  }

  /** See `Transport.onResync`. Called when the subscriptions have been renewed; not for the first connection. */
  onResync(callback: () => void): Unsubscribe {
    const registration = { callback }
    this.#resyncCallbacks.add(registration)
    return () => void this.#resyncCallbacks.delete(registration)
  }

  /** Ends the connection and all subscriptions; calls under way and later ones reject with `closed`. Idempotent, never rejects, bounded by `requestTimeoutSeconds`. */
  close(): Promise<void> {
    this.#closed ??= this.#keeper.close()
    return this.#closed
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #open(signal: AbortSignal): Promise<TransportLink> {
    const { connection, pooler, applicationName, healthCheckSeconds, requestTimeoutSeconds, clock } = this.#options
    const timings = {
      leaseSeconds: 3 * healthCheckSeconds + requestTimeoutSeconds,
      waitSliceSeconds: requestTimeoutSeconds,
      statementSeconds: requestTimeoutSeconds,
    }
    const openLinkSession = (onNotification: (channel: string, payload: string) => void): Promise<Session> =>
      openSession({
        connection,
        pooler,
        timings,
        applicationName: encodeApplicationName(applicationName),
        timeoutSeconds: requestTimeoutSeconds,
        signal,
        clock,
        onNotification,
      })
    const onNotification = (channel: string, payload: string): void => {
      if (!signal.aborted) this.#dispatch.deliver(channel, payload)
    }
    const options = { open: openLinkSession, requestTimeoutSeconds, signal, clock, onNotification }
    return await TransportLink.open(options, (link) => this.#reconcile(link))
  }

  #opened(isAgain: boolean): void {
    if (!isAgain) return
    for (const registration of [...this.#resyncCallbacks]) {
      if (!this.#resyncCallbacks.has(registration)) continue
      callSafely(registration.callback, (error) => this.#logger.error({ error }, 'A resync callback failed; the other callbacks still run'))
    }
  }

  /** Makes the server listen to what is subscribed and no more, in turn; what fails, or finds no link, is left to the next call or connection. */
  #settle(): void {
    this.#turns
      .take(async () => {
        const link = this.#keeper.current
        if (link !== null) await this.#reconcile(link)
      })
      .catch((error: unknown) => {
        this.#logger.debug({ error }, 'Could not give up a channel')
      })
  }

  async #reconcile(link: TransportLink): Promise<void> {
    for (;;) {
      const add = this.#dispatch.channels.filter((channel) => !link.listening.has(channel))
      const drop = [...link.listening].filter((channel) => !this.#dispatch.has(channel))
      if (add.length === 0 && drop.length === 0) return
      await link.relisten(add, drop)
    }
  }
}
