import type { EventOfInstance, HistoryEvent } from './history-event.js'
import { type Incarnation, type Lease, Spell, type SpellEnding } from './spell.js'
import type { TimelineBook } from './timeline-book.js'

type EventOf<Type extends HistoryEvent['type']> = Extract<HistoryEvent, { readonly type: Type }>

const FOR_EVER = Number.POSITIVE_INFINITY

/** How an instance is read. */
export interface InstanceOptions {
  readonly toleranceSeconds: number
  /** Whether a run is only right under a claim. */
  readonly needsClaims: boolean
}

/** What one instance leads, claims and runs, as its own events tell. */
export class InstanceHoldings {
  readonly #instanceId: string
  readonly #book: TimelineBook
  readonly #options: InstanceOptions
  readonly #claims = new Map<string, Spell>()
  readonly #runs = new Map<string, Spell>()
  /** Claims since the last renewal, each with a deadline of its own: so a renewal does not cost what all claims are. */
  #fresh: Spell[] = []
  readonly #sharedLease: Lease = { until: FOR_EVER }
  #term: Spell | null = null
  #lastClaimAt = Number.NEGATIVE_INFINITY

  constructor(instanceId: string, book: TimelineBook, options: InstanceOptions) {
    this.#instanceId = instanceId
    this.#book = book
    this.#options = options
  }

  /** When it claimed something last, in any incarnation. */
  get lastClaimAt(): number {
    return this.#lastClaimAt
  }

  take(event: EventOfInstance, index: number, incarnation: Incarnation): void {
    switch (event.type) {
      case 'elected':
        this.#lead(event, index, incarnation)
        break
      case 'leadership_renewed':
        this.#renewTerm(event, index)
        break
      case 'leadership_lost':
        this.#unseat(event, index)
        break
      case 'claimed':
        this.#claim(event, index, incarnation)
        break
      case 'claims_renewed':
        this.#renewClaims(event, index)
        break
      case 'claim_lost':
      case 'claim_released':
        this.#unclaim(event, index)
        break
      case 'run_started':
        this.#run(event, index, incarnation)
        break
      case 'run_stopped':
        this.#endRun(event, index)
        break
    }
  }

  /** What is held at `at`, with a name for each. */
  openAt(at: number): { readonly spell: Spell; readonly name: string }[] {
    const isHeld = ({ lease }: Spell): boolean => lease.until > at
    const term = this.#term !== null && isHeld(this.#term) ? [{ spell: this.#term, name: `its term${tokenText(this.#term)}` }] : []
    const claims = [...this.#claims.values()].filter(isHeld).map((spell) => ({ spell, name: `its claim on ${spell.subscription}` }))
    const runs = [...this.#runs.values()].map((spell) => ({ spell, name: `its run of ${spell.subscription}` }))
    return [...term, ...claims, ...runs]
  }

  /** Everything ends at once. */
  endAll(at: number, ending: SpellEnding, index: number | null): void {
    this.#term?.end(at, ending, index)
    this.#term = null
    for (const claim of this.#claims.values()) claim.end(at, ending, index)
    this.#claims.clear()
    this.#fresh = []
    for (const run of this.#runs.values()) run.end(at, ending, index)
    this.#runs.clear()
  }

  #lead({ at, token, trustedUntil = FOR_EVER }: EventOf<'elected'>, index: number, incarnation: Incarnation): void {
    const before = this.#term
    if (before !== null) {
      if (before.lease.until > at) this.#odd([before.startIndex, index], `is elected, and leads already${tokenText(before)}`)
      before.end(at, 'replaced', index)
    }
    this.#term = this.#book.beginTerm({
      incarnation,
      subscription: null,
      token,
      from: at,
      startIndex: index,
      lease: { until: trustedUntil },
    })
  }

  #renewTerm({ at, trustedUntil }: EventOf<'leadership_renewed'>, index: number): void {
    const term = this.#term
    if (term === null) {
      this.#odd([index], 'still leads, it says, and did not lead')
      return
    }
    const { until } = term.lease
    if (this.#isPast(until, at)) {
      this.#tooLong(
        [term.startIndex, index],
        `still leads at ${this.#time(at)}, and could trust its term${tokenText(term)} until ${this.#time(until)}`,
      )
    }
    term.lease.until = trustedUntil ?? Math.max(until, at)
  }

  #unseat({ at, token }: EventOf<'leadership_lost'>, index: number): void {
    const term = this.#term
    if (term === null) {
      this.#odd([index], 'loses leadership, and did not lead')
      return
    }
    if (token !== undefined && token !== term.token)
      this.#odd([term.startIndex, index], `loses the term ${token}, and leads${tokenText(term)}`)
    term.end(at, 'lost', index)
    this.#term = null
  }

  #claim({ at, token, subscription, trustedUntil = FOR_EVER }: EventOf<'claimed'>, index: number, incarnation: Incarnation): void {
    const before = this.#claims.get(subscription)
    if (before !== undefined) {
      if (before.lease.until > at)
        this.#odd([before.startIndex, index], `claims ${subscription}, and holds it already${tokenText(before)}`, subscription)
      this.#close(before, at, 'replaced', index)
    }
    const spell = new Spell({ incarnation, subscription, token, from: at, startIndex: index, lease: { until: trustedUntil } })
    this.#book.subscription(subscription, index).claims.push(spell)
    this.#claims.set(subscription, spell)
    this.#fresh.push(spell)
    this.#lastClaimAt = at
  }

  #renewClaims({ at, trustedUntil }: EventOf<'claims_renewed'>, index: number): void {
    const late: Spell[] = []
    if (this.#isPast(this.#sharedLease.until, at)) {
      for (const claim of this.#claims.values()) if (claim.lease === this.#sharedLease) late.push(claim)
    }
    for (const claim of this.#fresh) if (claim.isOpen && this.#isPast(claim.lease.until, at)) late.push(claim)
    const [first] = late
    if (first !== undefined) {
      const more = late.length > 1 ? ` and ${late.length - 1} more` : ''
      const what = `still holds ${first.subscription}${more} at ${this.#time(at)}, and could trust that until ${this.#time(first.lease.until)}`
      this.#tooLong([first.startIndex, index], what, first.subscription)
    }
    if (trustedUntil === undefined) {
      for (const claim of late) claim.lease.until = Math.max(claim.lease.until, at)
      return
    }
    this.#sharedLease.until = trustedUntil
    for (const claim of this.#fresh) if (claim.isOpen) claim.lease = this.#sharedLease
    this.#fresh = []
  }

  #unclaim({ type, at, subscription, token }: EventOf<'claim_lost' | 'claim_released'>, index: number): void {
    const claim = this.#claims.get(subscription)
    const verb = type === 'claim_lost' ? 'loses' : 'releases'
    if (claim === undefined) {
      this.#odd([index], `${verb} ${subscription}, and held no claim on it`, subscription)
      return
    }
    if (token !== undefined && token !== claim.token) {
      this.#odd([claim.startIndex, index], `${verb} ${subscription}, token ${token}, and holds it${tokenText(claim)}`, subscription)
    }
    this.#claims.delete(subscription)
    this.#close(claim, at, type === 'claim_lost' ? 'lost' : 'released', index)
  }

  #run({ at, subscription, token }: EventOf<'run_started'>, index: number, incarnation: Incarnation): void {
    const before = this.#runs.get(subscription)
    if (before !== undefined) {
      this.#odd([before.startIndex, index], `starts to run ${subscription}, and runs it already`, subscription)
      before.end(at, 'replaced', index)
    }
    const claim = this.#claims.get(subscription) ?? null
    const spell = new Spell({ incarnation, subscription, token, from: at, startIndex: index, lease: { until: FOR_EVER } })
    spell.claim = claim
    this.#book.subscription(subscription, index).runs.push(spell)
    this.#runs.set(subscription, spell)
    if (claim === null) {
      if (this.#options.needsClaims) this.#odd([index], `starts to run ${subscription}, and holds no claim on it`, subscription)
    } else if (token === null && this.#options.needsClaims) {
      this.#odd([claim.startIndex, index], `runs ${subscription} without a token, and holds it${tokenText(claim)}`, subscription)
    } else if (token !== null && token !== claim.token) {
      this.#odd([claim.startIndex, index], `runs ${subscription} under token ${token}, and holds it${tokenText(claim)}`, subscription)
    } else if (this.#isPast(claim.lease.until, at)) {
      const what = `starts to run ${subscription} at ${this.#time(at)}, and could trust its claim until ${this.#time(claim.lease.until)}`
      this.#tooLong([claim.startIndex, index], what, subscription)
    }
  }

  #endRun({ at, subscription, cause }: EventOf<'run_stopped'>, index: number): void {
    const run = this.#runs.get(subscription)
    if (run === undefined) {
      this.#odd([index], `stops to run ${subscription}, and did not run it`, subscription)
      return
    }
    this.#runs.delete(subscription)
    run.end(at, cause === 'revoked' ? 'released' : 'lost', index)
    if (cause === 'failed') this.#book.failure(at)
  }

  #close(claim: Spell, at: number, ending: SpellEnding, index: number): void {
    claim.end(at, ending, index)
    if (claim.ending !== 'released') this.#book.change(claim.until)
  }

  #isPast(deadline: number, at: number): boolean {
    return deadline < at - this.#options.toleranceSeconds
  }

  #time(at: number): string {
    return this.#book.time(at)
  }

  #odd(indices: readonly number[], what: string, subscription: string | null = null): void {
    this.#book.complain('impossible', indices, `${this.#instanceId} ${what}`, subscription)
  }

  #tooLong(indices: readonly number[], what: string, subscription: string | null = null): void {
    this.#book.complain('trusted_too_long', indices, `${this.#instanceId} ${what}`, subscription)
  }
}

function tokenText({ token }: Spell): string {
  return token === null ? '' : ` under token ${token}`
}
