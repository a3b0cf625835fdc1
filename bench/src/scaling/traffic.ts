import { HEARTBEAT_TOPIC, type Transport, WORK_ASSIGNMENT_TOPIC } from '@es/coordination-core'
import type { Hearing } from './cell.js'

type Message = Readonly<Record<string, unknown>>

/** A message, and when it was heard. */
export interface HeardMessage {
  readonly at: number
  readonly topic: string
  readonly message: Message
}

/** What went over the transport of a cluster so far. */
export interface TrafficCounts {
  published: number
  publishedBytes: number
  delivered: number
  deliveredBytes: number
}

/** What {@link Traffic} watches. */
export interface TrafficOptions {
  readonly hearing: Hearing
  readonly now: () => number
  /** How many instances there are. */
  readonly listeners: () => number
  readonly isLeader: (instanceId: string) => boolean
}

/** Counts what a cluster says, lets heartbeats pass to whom they are for, and writes down what one instance hears. */
export class Traffic {
  readonly counts: TrafficCounts = { published: 0, publishedBytes: 0, delivered: 0, deliveredBytes: 0 }
  /** The last assignment of each instance. */
  readonly assignments = new Map<string, Message>()
  /** What was heard while {@link isRecording}. */
  readonly heard: HeardMessage[] = []
  isRecording = false
  readonly #options: TrafficOptions

  constructor(options: TrafficOptions) {
    this.#options = options
  }

  /** `inner`, as it is used by `instanceId`. Of all that are `recorded`, everything that arrives is written down. */
  over(inner: Transport, instanceId: string, isRecorded: boolean): Transport {
    return {
      publish: (topic, message) => {
        this.#count(topic, message)
        return inner.publish(topic, message)
      },
      subscribe: (topic, handler) =>
        inner.subscribe(topic, (message) => {
          if (!this.#isFor(topic, message as Message, instanceId)) return undefined
          if (isRecorded) this.#write(topic, message as Message)
          return handler(message)
        }),
      onResync: (callback) => inner.onResync(callback),
    }
  }

  #count(topic: string, message: Message): void {
    const bytes = JSON.stringify(message).length
    const { hearing, listeners, isLeader } = this.#options
    const isNarrow = hearing === 'leader' && topic === HEARTBEAT_TOPIC && !isLeader(String(message.instance_id))
    // Its sender hears it too.
    const delivered = isNarrow ? 2 : listeners()
    this.counts.published++
    this.counts.publishedBytes += bytes
    this.counts.delivered += delivered
    this.counts.deliveredBytes += delivered * bytes
  }

  #isFor(topic: string, message: Message, instanceId: string): boolean {
    const { hearing, isLeader } = this.#options
    if (hearing === 'all' || topic !== HEARTBEAT_TOPIC) return true
    return message.instance_id === instanceId || message.is_leader === true || isLeader(instanceId)
  }

  #write(topic: string, message: Message): void {
    if (topic === WORK_ASSIGNMENT_TOPIC) this.assignments.set(String(message.target_instance_id), message)
    if (this.isRecording) this.heard.push({ at: this.#options.now(), topic, message })
  }
}
