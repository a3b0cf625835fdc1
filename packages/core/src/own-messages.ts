import type { Clock } from './clock.js'
import { HeartbeatMessage } from './heartbeat-message.js'
import type { LeaderElector } from './leader-elector.js'
import type { OnceLog } from './once-log.js'
import { requireSeconds } from './options.js'
import { type Sample, sampleCount, sampleFraction } from './sample.js'
import type { ShutdownIntent } from './shutdown-intent.js'
import { ShutdownNotification } from './shutdown-notification.js'

/** What `createHeartbeat()` reports. */
export interface CreateHeartbeatOptions {
  /** What this instance runs now. */
  readonly subscriptions: readonly string[]
  /**
   * Events being handled at this moment.
   * @default 0
   */
  readonly inFlightCount?: number | undefined
  /**
   * From 0 to 1.
   * @default 0
   */
  readonly loadFactor?: number | undefined
  /**
   * What this instance cannot run, now or ever.
   * @default []
   */
  readonly declined?: readonly string[] | undefined
  /**
   * Most work that this instance takes, in total weight.
   * @default no limit
   */
  readonly capacity?: number | undefined
}

/** What `createShutdownNotification()` announces. */
export interface CreateShutdownNotificationOptions {
  /** Why this instance leaves. */
  readonly intent: ShutdownIntent
  /** What this instance gives up. */
  readonly subscriptions: readonly string[]
  /** @default 0 */
  readonly inFlightCount?: number | undefined
  /**
   * How long this instance means to take. Receivers measure it from arrival.
   * @default 30
   */
  readonly drainTimeoutSeconds?: number | undefined
  /**
   * Anything that JSON can hold.
   * @default {}
   */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
}

// Between an incarnation and the number of times it was continued.
const CONTINUED = '~'

/** What an {@link OwnMessages} is made of. */
export interface OwnMessagesOptions {
  readonly instanceId: string
  readonly incarnation: string | undefined
  readonly leaderElector: LeaderElector | undefined
  readonly clock: Clock
  readonly log: OnceLog
}

/**
 * Makes the messages that an instance sends about itself, all in one sequence.
 *
 * - O1. Whatever is heard in this instance's name under its incarnation and was not sent by it would make the peers refuse what it says next
 *   (lineage rules L2 and L4). A new incarnation, which nobody has heard of, is always adopted (L1).
 */
export class OwnMessages {
  readonly #options: OwnMessagesOptions
  #sequence = 0
  #contradictions = 0

  constructor(options: OwnMessagesOptions) {
    this.#options = options
  }

  /** Names this run of the instance; `undefined` when its messages carry none. */
  get incarnation(): string | undefined {
    const { incarnation } = this.#options
    return this.#contradictions === 0 ? incarnation : `${incarnation}${CONTINUED}${this.#contradictions}`
  }

  /** Whether `incarnation` is one that this run of the instance goes or went by. */
  isOwn(incarnation: string | undefined): boolean {
    const { incarnation: first } = this.#options
    return first !== undefined && (incarnation === first || incarnation?.startsWith(`${first}${CONTINUED}`) === true)
  }

  /** Whether a message under the present incarnation with this sequence is none of those made here. */
  isForeign(sequence: number | undefined): boolean {
    return sequence === undefined || sequence > this.#sequence
  }

  /** O1: goes by a new incarnation from now on. `false` when there is none to change. */
  contradict(): boolean {
    if (this.#options.incarnation === undefined) return false
    this.#contradictions++
    return true
  }

  /** See `WorkRedistributionCoordinator.createHeartbeat`. */
  heartbeat({ subscriptions, inFlightCount = 0, loadFactor = 0, declined, capacity }: CreateHeartbeatOptions): HeartbeatMessage {
    const { instanceId, clock, leaderElector } = this.#options
    return new HeartbeatMessage({
      instanceId,
      timestamp: clock.now(),
      subscriptions,
      inFlightCount: this.#proper('inFlightCount', sampleCount(inFlightCount)),
      isLeader: leaderElector?.isLeader === true,
      loadFactor: this.#proper('loadFactor', sampleFraction(loadFactor)),
      declined,
      capacity,
      ...this.#order(),
    })
  }

  /** See `WorkRedistributionCoordinator.createShutdownNotification`. */
  shutdownNotification(options: CreateShutdownNotificationOptions): ShutdownNotification {
    const { intent, subscriptions, inFlightCount = 0, drainTimeoutSeconds = 30, metadata = {} } = options
    const { instanceId, clock } = this.#options
    const drainMs = requireSeconds('drainTimeoutSeconds', drainTimeoutSeconds, { atLeast: 0 }) * 1000
    const initiatedAt = clock.now()
    return new ShutdownNotification({
      instanceId,
      intent,
      initiatedAt,
      expectedCompletionAt: new Date(initiatedAt.getTime() + drainMs),
      subscriptions,
      inFlightCount: this.#proper('inFlightCount', sampleCount(inFlightCount)),
      metadata,
      ...this.#order(),
    })
  }

  #order(): { readonly incarnation: string; readonly sequence: number } | undefined {
    const { incarnation } = this
    return incarnation === undefined ? undefined : { incarnation, sequence: ++this.#sequence }
  }

  #proper(name: string, { value, fault }: Sample): number {
    if (fault !== null) {
      const fields = { instanceId: this.#options.instanceId, fault, sent: value }
      this.#options.log.warn(`${name} ${fault}`, fields, `A bad sample of ${name} was put right; further ones are too, without a word`)
    }
    return value
  }
}
