import { isSameList, MAX_SUBSCRIPTIONS, type PlannedSubscription } from '@es/coordination-core'
import { MAX_UNKNOWN_WIRE_LENGTH, wireLength } from './wire-length.js'

/** What this instance was told to run, and what of that it can run at all. */
export class WorkOrder {
  readonly #known: ReadonlySet<string>
  readonly #neverHere: ReadonlySet<string>
  /** Names that some leader thought could run here. Kept: whoever leads next must not try again. */
  readonly #unknown = new Set<string>()
  #unknownLength = 0
  #assigned: readonly string[] | null = null
  #wanted: ReadonlySet<string> = new Set()

  constructor(subscriptions: readonly PlannedSubscription[], mayRun: (subscription: string) => boolean) {
    const names = subscriptions.map(({ name }) => name)
    this.#known = new Set(names)
    this.#neverHere = new Set(names.filter((name) => !mayRun(name)))
  }

  /** The full set as last told; `null` before anything was told. */
  get assigned(): readonly string[] | null {
    return this.#assigned
  }

  /** What of it can run here. */
  get wanted(): ReadonlySet<string> {
    return this.#wanted
  }

  knows(name: string): boolean {
    return this.#known.has(name)
  }

  /** How many names it was given that it does not know. They are declined too. */
  get unknownCount(): number {
    return this.#unknown.size
  }

  /** Takes the full set. Returns whether it is news. */
  assign(subscriptions: readonly string[]): boolean {
    const before = this.#assigned
    this.#assigned = subscriptions
    this.#wanted = new Set(subscriptions.filter((name) => this.#known.has(name) && !this.#neverHere.has(name)))
    for (const name of subscriptions) if (!this.#known.has(name)) this.#declineForEver(name)
    return !isSameList(subscriptions, before)
  }

  /** As many as a heartbeat has room for: one that cannot be sent would make this instance look dead. */
  #declineForEver(name: string): void {
    const length = this.#unknownLength + wireLength(name)
    if (this.#unknown.has(name) || length > MAX_UNKNOWN_WIRE_LENGTH) return
    this.#unknown.add(name)
    this.#unknownLength = length
  }

  /** What a heartbeat declines: `now`, and what can never run here. As much as fits; one that cannot be sent would make this instance look dead. */
  decline(now: Iterable<string>): readonly string[] {
    return [...new Set([...now, ...this.#neverHere, ...this.#unknown])].slice(0, MAX_SUBSCRIPTIONS)
  }
}
