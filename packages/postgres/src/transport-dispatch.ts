import { type Clock, callSafely, errorMessage, type LogFields, type Logger, type TransportHandler } from '@es/coordination-core'
import { FrameAssembler } from './transport-frames.js'

/** What a transport has heard. */
export interface TransportCounts {
  /** Messages handed to handlers. */
  readonly received: number
  /** Notifications that were neither JSON nor a frame of it; somebody else's. */
  readonly malformed: number
  /** Messages given up because a frame never came. */
  readonly incomplete: number
  /** Calls of handlers that threw or rejected. */
  readonly handlerFailures: number
}

/** One call of `subscribe`. */
export interface Registration {
  readonly topic: string
  readonly handler: TransportHandler
  /** `waiting` until the server listens. */
  state: 'waiting' | 'active' | 'removed'
}

const PARTIAL_MESSAGES = 64
const PARTIAL_AGE_SECONDS = 30
const LOGGED_KINDS = 100

/** Hands what arrives on channels to handlers. Never throws. */
export class TransportDispatch {
  readonly #clock: Clock
  readonly #logger: Logger
  readonly #fields: LogFields
  readonly #registrations = new Map<string, Set<Registration>>()
  readonly #logged = new Set<string>()
  readonly #assembler: FrameAssembler
  #received = 0
  #malformed = 0
  #handlerFailures = 0

  constructor({ clock, logger, fields, maxMessageBytes }: { clock: Clock; logger: Logger; fields: LogFields; maxMessageBytes: number }) {
    this.#clock = clock
    this.#logger = logger
    this.#fields = fields
    this.#assembler = new FrameAssembler({
      maxMessageBytes,
      maxPartialMessages: PARTIAL_MESSAGES,
      maxPartialBytes: 4 * maxMessageBytes,
      maxAgeSeconds: PARTIAL_AGE_SECONDS,
    })
  }

  /** The channels that somebody subscribes to. */
  get channels(): readonly string[] {
    return [...this.#registrations.keys()]
  }

  has(channel: string): boolean {
    return this.#registrations.has(channel)
  }

  get counts(): TransportCounts {
    return {
      received: this.#received,
      malformed: this.#malformed,
      incomplete: this.#assembler.abandonedCount,
      handlerFailures: this.#handlerFailures,
    }
  }

  add(channel: string, registration: Registration): void {
    const others = this.#registrations.get(channel) ?? new Set()
    this.#registrations.set(channel, others.add(registration))
  }

  /** Harmless the second time. */
  remove(channel: string, registration: Registration): void {
    registration.state = 'removed'
    const others = this.#registrations.get(channel)
    if (others?.delete(registration) && others.size === 0) this.#registrations.delete(channel)
  }

  /** Takes a notification. A handler that is added meanwhile does not get it, one that is removed no longer does. */
  deliver(channel: string, payload: string): void {
    const recipients = [...(this.#registrations.get(channel) ?? [])].filter(({ state }) => state === 'active')
    const [first] = recipients
    if (first === undefined) return
    const assembly = this.#assembler.accept(channel, payload, this.#clock.monotonicSeconds())
    if (assembly.type === 'incomplete') return
    const message = assembly.type === 'message' ? parse(assembly.text) : undefined
    if (assembly.type === 'malformed' || message === undefined) {
      this.#dropMalformed(first.topic, payload)
      return
    }
    this.#received++
    this.#call(first, message)
    for (const registration of recipients) {
      // Parsed anew for each, so that no handler sees what another made of it.
      if (registration !== first && registration.state === 'active') this.#call(registration, parse(assembly.text))
    }
  }

  /** Gives up messages of which a frame has been missing for long. */
  expire(): void {
    this.#assembler.expire(this.#clock.monotonicSeconds())
  }

  #call({ handler, topic }: Registration, message: unknown): void {
    callSafely(
      () => handler(message),
      (error) => {
        this.#handlerFailures++
        this.#warnOnce(
          `handler ${topic} ${errorMessage(error)}`,
          { topic, error },
          'A transport handler failed; further failures of this kind are only counted',
        )
      },
    )
  }

  #dropMalformed(topic: string, payload: string): void {
    this.#malformed++
    this.#warnOnce(
      `malformed ${topic}`,
      { topic, length: payload.length },
      'Dropped a notification that is not a message; further ones on this topic are only counted',
    )
  }

  #warnOnce(kind: string, fields: LogFields, message: string): void {
    if (this.#logged.has(kind) || this.#logged.size >= LOGGED_KINDS) return
    this.#logged.add(kind)
    this.#logger.warn({ ...this.#fields, ...fields }, message)
  }
}

/** `undefined`, which JSON does not know, for what is no JSON. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
