import type { EventOfInstance } from './history-event.js'
import { isOwnEvent } from './history-order.js'
import { InstanceHoldings, type InstanceOptions } from './instance-holdings.js'
import type { Incarnation, Span } from './spell.js'
import type { TimelineBook } from './timeline-book.js'

interface Mark {
  readonly at: number
  readonly index: number
}

interface Gone extends Mark {
  readonly how: 'crashed' | 'stopped'
}

/** Follows one instance through its starts, pauses and ends, and finds what it cannot have done. */
export class InstanceLife {
  readonly instanceId: string
  readonly #book: TimelineBook
  readonly #options: InstanceOptions
  readonly #holdings: InstanceHoldings
  readonly #pauses: Span[] = []
  #incarnation: Incarnation
  #isKnown = false
  #latestAt = Number.NEGATIVE_INFINITY
  #paused: Mark | null = null
  /** What it recorded while it stood still; whether that is odd is known once it is resumed. */
  #whilePaused: Mark | null = null
  #gone: Gone | null = null

  constructor(instanceId: string, book: TimelineBook, options: InstanceOptions) {
    this.instanceId = instanceId
    this.#book = book
    this.#options = options
    this.#incarnation = this.#newIncarnation()
    this.#holdings = new InstanceHoldings(instanceId, book, options)
  }

  /** Whether it could own something: there, moving, and not leaving. */
  get isAble(): boolean {
    return this.#gone === null && this.#paused === null && this.#incarnation.leavingAt === Number.POSITIVE_INFINITY
  }

  /** Takes the next event of this instance. */
  take(event: EventOfInstance, index: number): void {
    if (isOwnEvent(event)) this.#checkTime(event, index)
    switch (event.type) {
      case 'instance_started':
        this.#start(event.at, index)
        break
      case 'crashed':
        if (this.#gone?.how === 'crashed') this.#odd([this.#gone.index, index], 'crashes after it had crashed')
        this.#endPause(event.at)
        this.#holdings.endAll(event.at, 'crashed', index)
        this.#gone = { at: event.at, index, how: 'crashed' }
        break
      case 'paused':
        if (this.#paused !== null) this.#odd([this.#paused.index, index], 'is paused while it is paused')
        this.#paused ??= { at: event.at, index }
        break
      case 'resumed':
        if (this.#paused === null) this.#odd([index], 'is resumed, and was not paused')
        this.#endPause(event.at)
        break
      default:
        this.#takeOwn(event, index)
    }
    this.#isKnown = true
  }

  /** The history ends. */
  finish(at: number): void {
    this.#endPause(Number.POSITIVE_INFINITY)
    this.#holdings.endAll(at, 'open', null)
  }

  #start(at: number, index: number): void {
    if (this.#gone === null && this.#isKnown) this.#odd([index], 'starts, and had neither stopped nor crashed')
    this.#endPause(at)
    this.#holdings.endAll(at, 'crashed', index)
    this.#gone = null
    this.#incarnation = this.#newIncarnation()
  }

  #stop(at: number, index: number): void {
    const open = this.#holdings.openAt(at)
    if (open.length > 0) {
      const what = open.slice(0, 3).map(({ name }) => name)
      const more = open.length > what.length ? ` and ${open.length - what.length} more` : ''
      this.#odd([...open.slice(0, 3).map(({ spell }) => spell.startIndex), index], `has stopped, and never ended ${what.join(', ')}${more}`)
    }
    // Without a word of leaving before, what it let go of after its last claim was let go of because it left.
    if (this.#incarnation.leavingAt === Number.POSITIVE_INFINITY) this.#incarnation.leavingAt = this.#holdings.lastClaimAt
    this.#holdings.endAll(at, 'stopped', index)
    this.#gone = { at, index, how: 'stopped' }
  }

  #takeOwn(event: EventOfInstance, index: number): void {
    if (this.#gone !== null && this.#isExcused(event, this.#gone)) return
    this.#revive(event, index)
    switch (event.type) {
      case 'stopping':
        this.#incarnation.leavingAt = event.at
        break
      case 'stopped':
        this.#stop(event.at, index)
        break
      default:
        this.#holdings.take(event, index, this.#incarnation)
    }
  }

  /** Whether an event of the dead is as it should be. */
  #isExcused(event: EventOfInstance, { how, at, index }: Gone): boolean {
    // A run that was given up may try to write, in the process that stays behind.
    if (how === 'stopped')
      return event.type === 'checkpoint_written' || event.type === 'event_applied' || event.type === 'checkpoint_refused'
    if (effectiveAt(event) > at + this.#options.toleranceSeconds) return false
    // Recorded as it was killed: it counts, and it is over.
    if (event.type === 'claimed' || event.type === 'elected') {
      this.#holdings.take(event, index, this.#incarnation)
      this.#holdings.endAll(event.at, 'crashed', index)
    }
    return true
  }

  /** Finds fault with an event of the dead once, and believes from then on that somebody forgot to record a start. */
  #revive({ type, at }: EventOfInstance, index: number): void {
    if (this.#gone === null) return
    this.#odd(
      [this.#gone.index, index],
      `records ${type} at ${this.#book.time(at)}, and ${this.#gone.how} at ${this.#book.time(this.#gone.at)}`,
    )
    this.#gone = null
    this.#incarnation = this.#newIncarnation()
  }

  #checkTime(event: EventOfInstance, index: number): void {
    if (event.at < this.#latestAt)
      this.#odd([index], `goes back in time: it recorded something at ${this.#book.time(this.#latestAt)} before`)
    this.#latestAt = Math.max(this.#latestAt, event.at)
    if (this.#paused === null || effectiveAt(event) <= this.#paused.at + this.#options.toleranceSeconds) return
    this.#whilePaused ??= { at: event.at, index }
  }

  #endPause(at: number): void {
    const { from, index } = { from: this.#paused?.at ?? at, index: this.#paused?.index ?? 0 }
    const acted = this.#whilePaused
    if (acted !== null && acted.at < at - this.#options.toleranceSeconds) {
      this.#odd([index, acted.index], `records something at ${this.#book.time(acted.at)}, and stood still from ${this.#book.time(from)}`)
    }
    if (this.#paused !== null) this.#pauses.push({ from, until: at })
    this.#paused = null
    this.#whilePaused = null
  }

  #newIncarnation(): Incarnation {
    return { instanceId: this.instanceId, pauses: this.#pauses, leavingAt: Number.POSITIVE_INFINITY }
  }

  #odd(indices: readonly number[], what: string): void {
    this.#book.complain('impossible', indices, `${this.instanceId} ${what}`)
  }
}

/** When it happened at the earliest. */
function effectiveAt(event: EventOfInstance): number {
  return 'sentAt' in event && event.sentAt !== undefined ? Math.min(event.sentAt, event.at) : event.at
}
