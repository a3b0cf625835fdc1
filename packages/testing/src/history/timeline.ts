import { Calm } from './calm.js'
import { type EventOfInstance, type HistoryEvent, instanceOf, subscriptionOf } from './history-event.js'
import type { ParsedHistoryOptions } from './history-options.js'
import { InstanceLife } from './instance-life.js'
import type { Spell } from './spell.js'
import { type Complaint, type SubscriptionRecord, TimelineBook } from './timeline-book.js'

/** A history that was read: who believed what, and when. */
export interface Timeline {
  /** In the order of time; every index is one of this list. */
  readonly events: readonly HistoryEvent[]
  readonly from: number
  readonly until: number
  readonly instances: number
  readonly terms: readonly Spell[]
  readonly subscriptions: ReadonlyMap<string, SubscriptionRecord>
  readonly changes: readonly number[]
  /** When each instance was killed, in order. */
  readonly crashes: ReadonlyMap<string, readonly number[]>
  /** How often each kind of fault happened. */
  readonly faults: ReadonlyMap<string, number>
  readonly calm: Calm
  readonly complaints: readonly Complaint[]
}

/** Reads `events`, which are in the order of time, in one pass. */
export function readTimeline(events: readonly HistoryEvent[], options: ParsedHistoryOptions): Timeline {
  return new TimelineReader(events, options).read()
}

class TimelineReader {
  readonly #events: readonly HistoryEvent[]
  readonly #options: ParsedHistoryOptions
  readonly #from: number
  readonly #book: TimelineBook
  readonly #calm: Calm
  readonly #instances = new Map<string, InstanceLife>()
  readonly #crashes = new Map<string, number[]>()
  readonly #faults = new Map<string, number>()
  /** Faults that last, by kind and instance. */
  readonly #lasting = new Map<string, FaultMark>()
  readonly #able = new Set<InstanceLife>()
  #end: { readonly index: number; readonly at: number } | null = null
  #goesOn = false

  constructor(events: readonly HistoryEvent[], options: ParsedHistoryOptions) {
    this.#events = events
    this.#options = options
    this.#from = events[0]?.at ?? 0
    this.#book = new TimelineBook(this.#from)
    this.#calm = new Calm(this.#from)
  }

  read(): Timeline {
    for (const name of this.#options.subscriptions) this.#book.subscription(name, -1)
    for (const [index, event] of this.#events.entries()) this.#take(event, index)
    // What had to be written, and was never heard of, is lost as a whole.
    for (const [name, last] of this.#options.lastPositions) if (last > 0) this.#book.subscription(name, this.#events.length)
    const until = this.#events.reduce((latest, { at }) => Math.max(latest, at), this.#from)
    for (const instance of this.#instances.values()) instance.finish(until)
    this.#disturb(until)
    return {
      ...{ events: this.#events, from: this.#from, until, instances: this.#instances.size },
      ...{ terms: this.#book.terms, subscriptions: this.#book.subscriptions, changes: this.#book.changes },
      ...{ crashes: this.#crashes, faults: this.#faults, calm: this.#calm, complaints: this.#book.complaints },
    }
  }

  #take(event: HistoryEvent, index: number): void {
    if (this.#end !== null && event.at > this.#end.at && !this.#goesOn) {
      this.#goesOn = true
      this.#odd([this.#end.index, index], `The history goes on with ${event.type} after its end`)
    }
    switch (event.type) {
      case 'end':
        this.#end ??= { index, at: event.at }
        return
      case 'fault':
      case 'fault_began':
      case 'fault_ended':
        this.#noteFault(event, index)
        return
      case 'checkpoint_written':
        this.#book.subscription(event.subscription, index).checkpoints.push(index)
        break
      case 'event_applied':
        this.#book.subscription(event.subscription, index).applied.push(index)
        break
      case 'checkpoint_refused':
        this.#book.subscription(event.subscription, index).refusals++
        break
    }
    this.#takeOfInstance(event, index)
  }

  #takeOfInstance(event: EventOfInstance, index: number): void {
    const known = this.#instances.get(event.instanceId)
    const instance =
      known ?? new InstanceLife(event.instanceId, this.#book, { ...this.#options, needsClaims: this.#options.ownedBy === 'claim' })
    if (known === undefined) this.#instances.set(event.instanceId, instance)
    const wasAble = this.#able.has(instance)
    instance.take(event, index)
    if (event.type === 'crashed') this.#noteCrash(event)
    if (event.type === 'crashed' || event.type === 'paused') this.#countFault(event.type)
    const isAble = this.#isAble(instance)
    if (isAble) this.#able.add(instance)
    else this.#able.delete(instance)
    if (isAble === wasAble && !LIFE.has(event.type)) return
    this.#book.change(event.at)
    this.#disturb(event.at)
  }

  #countFault(kind: string): void {
    this.#faults.set(kind, (this.#faults.get(kind) ?? 0) + 1)
  }

  #noteCrash({ instanceId, at }: EventOfInstance): void {
    const crashes = this.#crashes.get(instanceId)
    if (crashes === undefined) this.#crashes.set(instanceId, [at])
    else crashes.push(at)
  }

  #noteFault(event: HistoryEvent & { readonly type: 'fault' | 'fault_began' | 'fault_ended'; readonly kind: string }, index: number): void {
    const { type, kind, at } = event
    const instanceId = instanceOf(event)
    const key = JSON.stringify([kind, instanceId])
    const began = this.#lasting.get(key)
    if (type !== 'fault_ended') this.#countFault(kind)
    if (type === 'fault_began') {
      if (began !== undefined) this.#odd([began.index, index], `The fault "${kind}" begins, and had not ended`)
      this.#lasting.set(key, { index, instanceId })
    }
    if (type === 'fault_ended') {
      if (began === undefined) this.#odd([index], `The fault "${kind}" ends, and had not begun`)
      this.#lasting.delete(key)
    }
    this.#book.change(at)
    const instance = instanceId === null ? undefined : this.#instances.get(instanceId)
    if (instance !== undefined) {
      if (this.#isAble(instance)) this.#able.add(instance)
      else this.#able.delete(instance)
    }
    this.#disturb(at)
  }

  /** Whether it could own something now: it is there, and no fault that lasts befalls it alone. */
  #isAble(instance: InstanceLife): boolean {
    if (!instance.isAble) return false
    for (const { instanceId } of this.#lasting.values()) if (instanceId === instance.instanceId) return false
    return true
  }

  #disturb(at: number): void {
    let isOutage = false
    for (const { instanceId } of this.#lasting.values()) isOutage ||= instanceId === null
    this.#calm.disturb(at, { isDeserted: this.#able.size === 0, isOutage })
  }

  #odd(indices: readonly number[], message: string): void {
    const last = this.#events[indices.at(-1) ?? 0]
    this.#book.complain('impossible', indices, message, last === undefined ? null : subscriptionOf(last))
  }
}

interface FaultMark {
  readonly index: number
  readonly instanceId: string | null
}

const LIFE: ReadonlySet<string> = new Set(['instance_started', 'stopping', 'stopped', 'crashed', 'paused', 'resumed'])
