import { boundedCall, type Clock, errorMessage, FailureLog, type HeartbeatMessage, type Logger } from '@es/coordination-core'
import { Soon } from './soon.js'

/** What a {@link HeartbeatLoop} is made of. */
export interface HeartbeatLoopOptions {
  readonly instanceId: string
  readonly intervalSeconds: number
  /** A heartbeat that takes longer to hand over has failed, and no longer holds the next one. */
  readonly publishTimeoutSeconds: number
  readonly clock: Clock
  readonly logger: Logger
  /** Makes the heartbeat of this moment. */
  readonly create: () => HeartbeatMessage
  readonly publish: (heartbeat: HeartbeatMessage) => Promise<void>
}

/** Heartbeats cannot be sent. */
export interface HeartbeatOutage {
  /** Monotonic time of the first failure. */
  readonly since: number
  readonly error: string
  /** When the last one was sent; `null` when none ever was. */
  readonly lastSentAt: Date | null
}

/** Sends a heartbeat on an interval, and at once when something has changed; one at a time, and never behind anybody's work. */
export class HeartbeatLoop {
  readonly #options: HeartbeatLoopOptions
  readonly #soon: Soon
  readonly #log: FailureLog
  /** Ends what still waits for the transport. */
  readonly #ending = new AbortController()
  #sending: Promise<void> | null = null
  #isStale = false
  #outage: HeartbeatOutage | null = null
  #lastSentAt: Date | null = null
  #lastSent = Number.NEGATIVE_INFINITY

  constructor(options: HeartbeatLoopOptions) {
    this.#options = options
    const { clock, logger, instanceId } = options
    this.#soon = new Soon(clock, () => this.#beat())
    this.#log = new FailureLog({ what: 'Publishing heartbeats', clock, logger, fields: { instanceId } })
  }

  /** Sends the first heartbeat, and then one on each interval. Resolves when the first is out, or could not be sent; never rejects. */
  async start(): Promise<void> {
    this.#beat()
    await this.#sending
  }

  /** Something has changed, or somebody asks who is there. */
  announce(delaySeconds = 0): void {
    this.#soon.ask(delaySeconds)
  }

  /** The failure of the last heartbeat; `null` when it was sent. */
  get outage(): HeartbeatOutage | null {
    return this.#outage
  }

  /** For how many seconds nobody can have heard this instance; 0 while heartbeats can be sent. */
  get unheardForSeconds(): number {
    return this.#outage === null ? 0 : this.#options.clock.monotonicSeconds() - this.#lastSent
  }

  /** Sends a last heartbeat within `timeoutSeconds`, and no further one. Never rejects. */
  async stop(timeoutSeconds: number): Promise<void> {
    this.#soon.stop()
    const cancel = this.#options.clock.setTimer(timeoutSeconds, () => this.#ending.abort())
    await this.#sending
    await this.#send()
    cancel()
  }

  #beat(): void {
    this.#soon.ask(this.#options.intervalSeconds)
    if (this.#sending !== null) {
      this.#isStale = true
      return
    }
    this.#sending = this.#send().finally(() => {
      this.#sending = null
      if (!this.#isStale) return
      this.#isStale = false
      this.#soon.ask()
    })
  }

  async #send(): Promise<void> {
    const { clock, create, publish, publishTimeoutSeconds } = this.#options
    try {
      const heartbeat = create()
      const limit = { clock, what: 'Publishing a heartbeat', timeoutSeconds: publishTimeoutSeconds, signals: [this.#ending.signal] }
      await boundedCall(limit, () => publish(heartbeat))
      this.#outage = null
      this.#lastSentAt = clock.now()
      this.#lastSent = clock.monotonicSeconds()
      this.#log.succeeded()
    } catch (error) {
      this.#outage = { since: this.#outage?.since ?? clock.monotonicSeconds(), error: errorMessage(error), lastSentAt: this.#lastSentAt }
      this.#log.failed(error)
    }
  }
}
