import { type Clock, HEARTBEAT_TOPIC, SHUTDOWN_NOTIFICATIONS_TOPIC, type Transport, WORK_ASSIGNMENT_TOPIC } from '@es/coordination-core'
import { HeardLives } from './heard-lives.js'
import { NewestAssignment } from './newest-assignment.js'
import type { SimulatedProcess } from './simulated-process.js'
import type { PeerBelief } from './surroundings.js'
import { enumerate } from './transcript.js'

type Message = Readonly<Record<string, unknown>>

const NOTHING = (): void => {}

/** What a {@link Conduct} is made of. */
export interface ConductOptions {
  readonly instanceId: string
  readonly incarnation: string
  readonly heartbeatTimeoutSeconds: number
  /** The true time. */
  readonly clock: Clock
  readonly process: SimulatedProcess
  /** What the instance believes of one of the others; `undefined` when it knows none of that name, or does not tell. */
  readonly believes: (instanceId: string) => PeerBelief | undefined
  /** Told of what is worth a line in the transcript. */
  readonly says: (what: string) => void
  /** Told of each offence, in words. */
  readonly offends: (what: string) => void
}

/**
 * Judges how one life of an instance takes the messages that it hears, which shows in no history: much that is wrong is made good again by the next message.
 *
 * - C1. It claims, or without claims starts, nothing but what the newest assignment that it heard gives it.
 * - C2. A heartbeat that a later one of the same life has overtaken changes nothing of what it believes its sender to run.
 * - C3. Whoever begins a new life is not taken for leaving, whatever the life before announced.
 */
export class Conduct {
  readonly #options: ConductOptions
  readonly #newest: NewestAssignment
  readonly #lives = new HeardLives()

  constructor(options: ConductOptions) {
    this.#options = options
    this.#newest = new NewestAssignment(options.instanceId, options.heartbeatTimeoutSeconds)
  }

  /** `inner`, listened to. */
  over(inner: Transport): Transport {
    return {
      publish: (topic, message) => {
        // Also when it cannot be sent: whoever leads has told itself.
        if (topic === WORK_ASSIGNMENT_TOPIC) this.#hearAssignment(message)
        return inner.publish(topic, message)
      },
      subscribe: (topic, handler) =>
        inner.subscribe(topic, (message) => {
          const judge = this.#hear(topic, message as Message)
          const returned = handler(message)
          judge()
          return returned
        }),
      onResync: (callback) => inner.onResync(callback),
    }
  }

  /** The instance claims, or starts, `subscriptions`. */
  takes(subscriptions: readonly string[]): void {
    const untold = subscriptions.filter((name) => !this.#newest.gives(name))
    if (untold.length === 0) return
    const at = this.#time
    // A leader acts on its own word in the moment in which it says it.
    this.#options.clock.setTimer(0, () => {
      const names = untold.filter((name) => !this.#newest.gives(name))
      if (names.length === 0) return
      const epoch = `of epoch ${this.#newest.epoch}`
      this.#offends(`takes ${names.join(', ')} at ${at}, which the newest assignment that it heard, ${epoch}, does not give it`)
    })
  }

  #hearAssignment(message: Message): void {
    const isLate = this.#newest.hear(message, this.#options.process.monotonicSeconds())
    if (!isLate) return
    const names = enumerate(message.subscriptions as readonly string[])
    this.#options.says(
      `hears that it is to run ${names || 'nothing'} (term ${message.epoch}), after a newer assignment (term ${this.#newest.epoch})`,
    )
  }

  /** Returns what is to be judged once the instance has taken the message. */
  #hear(topic: string, message: Message): () => void {
    if (topic === HEARTBEAT_TOPIC) return this.#hearHeartbeat(message)
    if (topic === SHUTDOWN_NOTIFICATIONS_TOPIC) this.#lives.hearShutdown(message)
    if (topic === WORK_ASSIGNMENT_TOPIC) this.#hearAssignment(message)
    return NOTHING
  }

  #hearHeartbeat(message: Message): () => void {
    const { instanceId, believes, says } = this.#options
    const sender = String(message.instance_id)
    const order = this.#lives.hearHeartbeat(message)
    if (sender === instanceId || order === 'usual') return NOTHING
    if (order === 'new_life') {
      return () => {
        if (believes(sender)?.isLeaving) this.#offends(`takes ${sender} for leaving at ${this.#time}, when a new life of it is first heard`)
      }
    }
    says(`hears a heartbeat of ${sender} that a later one has overtaken`)
    const before = believes(sender)?.subscriptions.join()
    return () => {
      if (believes(sender)?.subscriptions.join() !== before)
        this.#offends(`believes a heartbeat of ${sender} at ${this.#time} that a later one had overtaken`)
    }
  }

  get #time(): string {
    return `${this.#options.clock.monotonicSeconds().toFixed(3)} s`
  }

  #offends(what: string): void {
    this.#options.offends(`${this.#options.incarnation} ${what}`)
  }
}
