import { type Clock, FailureLog, type HeartbeatMessage, type Logger } from '@es/coordination-core'
import { Soon } from './soon.js'

/** What a {@link HeartbeatLoop} is made of. */
export interface HeartbeatLoopOptions {
  readonly instanceId: string
  readonly intervalSeconds: number
  readonly clock: Clock
  readonly logger: Logger
  /** Makes the heartbeat of this moment. */
  readonly create: () => HeartbeatMessage
  readonly publish: (heartbeat: HeartbeatMessage) => Promise<void>
}

/** Sends a heartbeat on an interval, and at once when something has changed; one at a time, and never behind anybody's work. */
export class HeartbeatLoop {
  readonly #options: HeartbeatLoopOptions
  readonly #soon: Soon
  readonly #outage: FailureLog
  #sending: Promise<void> | null = null
  #isStale = false
  #failingSince: number | null = null

  constructor(options: HeartbeatLoopOptions) {
    this.#options = options
    const { clock, logger, instanceId } = options
    this.#soon = new Soon(clock, () => this.#beat())
    this.#outage = new FailureLog({ what: 'Publishing heartbeats', clock, logger, fields: { instanceId } })
  }

  /** Something has changed, or somebody asks who is there. */
  announce(delaySeconds = 0): void {
    this.#soon.ask(delaySeconds)
  }

  /** Since when, on the monotonic clock, no heartbeat could be sent; `null` while they can. */
  get failingSince(): number | null {
    return this.#failingSince
  }

  /** Sends a last heartbeat, and no further one. Never rejects. */
  async stop(): Promise<void> {
    this.#soon.stop()
    await this.#sending
    await this.#send()
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
    try {
      await this.#options.publish(this.#options.create())
      this.#failingSince = null
      this.#outage.succeeded()
    } catch (error) {
      this.#failingSince ??= this.#options.clock.monotonicSeconds()
      this.#outage.failed(error)
    }
  }
}
