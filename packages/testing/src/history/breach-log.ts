import { type HistoryEvent, instanceOf, subscriptionOf } from './history-event.js'
import type { ParsedHistoryOptions } from './history-options.js'
import type { HistoryRule } from './history-rules.js'

/** Something in a history that must not be. */
export interface HistoryBreach {
  readonly rule: HistoryRule
  /** When it shows, on the clock of the history. */
  readonly at: number
  /** A sentence; its times count from the beginning of the history. */
  readonly message: string
  /** `null` where it is about no one subscription. */
  readonly subscription: string | null
  /** The events that it consists of, in order. */
  readonly events: readonly HistoryEvent[]
  /** The same with what else happened in this affair shortly before and after, in order. */
  readonly window: readonly HistoryEvent[]
}

/** A breach before its events were gathered. */
export interface Finding {
  readonly rule: HistoryRule
  readonly at: number
  readonly message: string
  readonly subscription: string | null
  readonly indices: readonly number[]
}

// Where the next event of the same affair is further away than this it does not explain anything.
const FARTHEST_EVENTS = 5000

/** Collects what the rules find. */
export class BreachLog {
  readonly #events: readonly HistoryEvent[]
  readonly #options: ParsedHistoryOptions
  readonly #skipped: ReadonlySet<HistoryRule>
  readonly #findings: Finding[] = []

  constructor(events: readonly HistoryEvent[], options: ParsedHistoryOptions) {
    this.#events = events
    this.#options = options
    this.#skipped = new Set(options.skip)
  }

  get count(): number {
    return this.#findings.length
  }

  add(finding: Finding): void {
    if (!this.#skipped.has(finding.rule)) this.#findings.push(finding)
  }

  /** The first ones in the order of time, with their events. */
  breaches(): readonly HistoryBreach[] {
    const ordered = this.#findings.sort((a, b) => a.at - b.at)
    return ordered.slice(0, this.#options.maxBreaches).map((finding) => {
      const { rule, at, message, subscription } = finding
      const indices = [...new Set(finding.indices)].sort((a, b) => a - b)
      const window = this.#windowAround(indices, subscription)
      return { rule, at, message, subscription, events: this.#pick(indices), window: this.#pick(window) }
    })
  }

  #pick(indices: readonly number[]): HistoryEvent[] {
    return indices.map((index) => this.#events[index]).filter((event) => event !== undefined)
  }

  #windowAround(indices: readonly number[], subscription: string | null): number[] {
    const instances = new Set(this.#pick(indices).map(instanceOf))
    const belongs = (event: HistoryEvent): boolean => {
      if (event.type === 'leadership_renewed' || event.type === 'claims_renewed') return false
      const about = subscriptionOf(event)
      if (about !== null) return about === subscription
      const instanceId = instanceOf(event)
      return instanceId === null || instances.has(instanceId) || subscription === null
    }
    const window = new Set(indices)
    for (const index of indices) {
      for (const step of [-1, 1]) {
        let found = 0
        for (let distance = 1; distance <= FARTHEST_EVENTS && found < this.#options.windowSize; distance++) {
          const event = this.#events[index + step * distance]
          if (event === undefined) break
          if (!belongs(event)) continue
          window.add(index + step * distance)
          found++
        }
      }
    }
    return [...window].sort((a, b) => a - b)
  }
}
