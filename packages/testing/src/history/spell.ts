/** A time from one instant to another, in seconds. */
export interface Span {
  readonly from: number
  readonly until: number
}

/** A deadline that several beliefs may share: one renewal moves it for all. */
export interface Lease {
  until: number
}

/** How a spell ended; `open` while the history ended first. */
export type SpellEnding = 'open' | 'released' | 'lost' | 'lapsed' | 'replaced' | 'crashed' | 'stopped'

/** One run of an instance, as far as its spells need to know it. */
export interface Incarnation {
  readonly instanceId: string
  /** When the instance stood still; grows. */
  readonly pauses: readonly Span[]
  /** From when on it does not stay. */
  leavingAt: number
}

/** What a {@link Spell} begins with. */
export interface SpellStart {
  readonly incarnation: Incarnation
  /** `null` for leadership. */
  readonly subscription: string | null
  readonly token: bigint | null
  readonly from: number
  readonly startIndex: number
  /** Up to when it is believed without another word. */
  readonly lease: Lease
}

/** One unbroken term, claim or run of one instance: from when until when it believed in it. */
export class Spell implements SpellStart, Span {
  readonly incarnation: Incarnation
  readonly subscription: string | null
  readonly token: bigint | null
  readonly from: number
  readonly startIndex: number
  lease: Lease
  /** Of a run: the claim it began under. Losing that ends the run's right, whenever the run notices. */
  claim: Spell | null = null
  #endedAt = Number.POSITIVE_INFINITY
  #ending: SpellEnding = 'open'
  #endIndex: number | null = null

  constructor({ incarnation, subscription, token, from, startIndex, lease }: SpellStart) {
    this.incarnation = incarnation
    this.subscription = subscription
    this.token = token
    this.from = from
    this.startIndex = startIndex
    this.lease = lease
  }

  get instanceId(): string {
    return this.incarnation.instanceId
  }

  /** Whether nothing has ended it yet; its deadline may have passed all the same. */
  get isOpen(): boolean {
    return this.#endedAt === Number.POSITIVE_INFINITY
  }

  /** Final once the whole history was read. */
  get until(): number {
    const own = Math.max(this.from, Math.min(this.#endedAt, this.lease.until))
    // Letting go of a claim is no excuse for a run that goes on.
    return this.claim === null || this.claim.ending === 'released' ? own : Math.max(this.from, Math.min(own, this.claim.until))
  }

  get ending(): SpellEnding {
    return this.lease.until < this.#endedAt && this.lease.until !== Number.POSITIVE_INFINITY ? 'lapsed' : this.#ending
  }

  /** Index of the event that ended it, if one did. */
  get endIndex(): number | null {
    return this.#endIndex
  }

  /** Only the first call counts. */
  end(at: number, ending: SpellEnding, index: number | null): void {
    if (!this.isOpen) return
    this.#endedAt = at
    this.#ending = ending
    this.#endIndex = index
    // What is renewed from now on is not renewed for this one.
    this.lease = { until: this.lease.until }
  }

  /** The events it begins and ends with. */
  get indices(): readonly number[] {
    return this.#endIndex === null ? [this.startIndex] : [this.startIndex, this.#endIndex]
  }
}

/** A part of a spell: all of it, unless it was interrupted. */
export interface SpellPiece extends Span {
  readonly spell: Spell
}

/** The times at which the spells were believed in, by their beginning: a belief without deadline rests while its instance stands still. */
export function piecesOf(spells: readonly Spell[]): readonly SpellPiece[] {
  const pieces = spells.flatMap((spell) => (hasDeadline(spell) ? [{ spell, from: spell.from, until: spell.until }] : withoutPauses(spell)))
  return pieces.sort((a, b) => a.from - b.from || a.until - b.until)
}

function hasDeadline({ lease, claim }: Spell): boolean {
  return (claim ?? { lease }).lease.until !== Number.POSITIVE_INFINITY
}

function withoutPauses(spell: Spell): SpellPiece[] {
  const { until, incarnation } = spell
  const pieces: SpellPiece[] = []
  // Whoever wakes and knows in the same instant that it has lost has believed nothing since.
  const isPiece = (start: number, end: number): boolean => start < end || (start === end && start === spell.from)
  let from = spell.from
  for (const pause of incarnation.pauses.slice(firstEndingAfter(incarnation.pauses, from))) {
    if (pause.from >= until) break
    if (isPiece(from, pause.from)) pieces.push({ spell, from, until: pause.from })
    from = pause.until
  }
  if (isPiece(from, until)) pieces.push({ spell, from, until })
  return pieces
}

/** Index of the first of `spans`, which are in order and apart, that ends after `at`. */
export function firstEndingAfter(spans: readonly Span[], at: number): number {
  let low = 0
  let high = spans.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((spans[middle] as Span).until > at) high = middle
    else low = middle + 1
  }
  return low
}
