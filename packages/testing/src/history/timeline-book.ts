import { Spell, type SpellStart } from './spell.js'

/** Something that cannot be, or must not be, found while a history is read. */
export interface Complaint {
  readonly rule: 'impossible' | 'trusted_too_long'
  readonly message: string
  readonly subscription: string | null
  /** The events involved; the last one is where it shows. */
  readonly indices: readonly number[]
}

/** What is known of one subscription. Spells are in the order in which they were recorded, the others are indices of events. */
export interface SubscriptionRecord {
  readonly name: string
  /** The first event that names it; -1 where it was expected from the beginning. */
  readonly firstIndex: number
  readonly claims: Spell[]
  readonly runs: Spell[]
  readonly checkpoints: number[]
  readonly applied: number[]
  refusals: number
}

/** Where everything that is read from a history is noted. */
export class TimelineBook {
  readonly terms: Spell[] = []
  readonly subscriptions = new Map<string, SubscriptionRecord>()
  readonly complaints: Complaint[] = []
  readonly #changes: number[] = []
  readonly #origin: number

  constructor(origin: number) {
    this.#origin = origin
  }

  /** When membership changed, a fault happened, a claim was lost or a run failed; in order. */
  get changes(): readonly number[] {
    return this.#changes.sort((a, b) => a - b)
  }

  /** Notes a reason for work to be moved. What happens to many subscriptions of one instance at one instant is one. */
  change(at: number): void {
    if (this.#changes.at(-1) !== at) this.#changes.push(at)
  }

  /** Notes a failed run: work goes away once, and may come back once. */
  failure(at: number): void {
    this.#changes.push(at, at)
  }

  subscription(name: string, index: number): SubscriptionRecord {
    const known = this.subscriptions.get(name)
    if (known !== undefined) return known
    const record: SubscriptionRecord = { name, firstIndex: index, claims: [], runs: [], checkpoints: [], applied: [], refusals: 0 }
    this.subscriptions.set(name, record)
    return record
  }

  beginTerm(start: SpellStart): Spell {
    const spell = new Spell(start)
    this.terms.push(spell)
    return spell
  }

  complain(rule: Complaint['rule'], indices: readonly number[], message: string, subscription: string | null = null): void {
    this.complaints.push({ rule, indices, message, subscription })
  }

  /** An instant for a message. */
  time(at: number): string {
    return formatTime(at, this.#origin)
  }
}

/** An instant, counted from the beginning of the history. */
export function formatTime(at: number, origin: number): string {
  return `${(at - origin).toFixed(3)} s`
}
