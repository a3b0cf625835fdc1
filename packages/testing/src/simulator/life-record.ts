import { type Claim, invalidOption, type LeaderElector } from '@es/coordination-core'
import type { HistoryEvent, RunEnding } from '../history/history-event.js'
import type { SimulatedProcess } from './simulated-process.js'
import type { Transcript } from './transcript.js'

/** Where a simulation keeps what happened. */
export interface Chronicle {
  readonly history: HistoryEvent[]
  readonly transcript: Transcript
  /** Off for simulations that are too large to be kept. */
  readonly isKept: boolean
  now(): number
}

/** What one life of an instance believes and does, written down as it knows it; nothing after its death. */
export class LifeRecord {
  readonly instanceId: string
  readonly #chronicle: Chronicle
  readonly #process: SimulatedProcess
  #term: { readonly token: bigint | null } | null = null
  readonly #claims = new Map<string, bigint>()
  /** On the clock of the process. */
  #trustedUntil: number | null = null

  constructor(instanceId: string, process: SimulatedProcess, chronicle: Chronicle) {
    this.instanceId = instanceId
    this.#process = process
    this.#chronicle = chronicle
  }

  /** A line of the transcript. */
  say(what: string): void {
    if (this.#isOn) this.#chronicle.transcript.say(this.instanceId, what)
  }

  /** Whatever it believes holds until `ownSeconds` on the clock of the process. */
  trusted(ownSeconds: number): void {
    if (Number.isNaN(ownSeconds)) throw invalidOption('untilSeconds of trusted()', ownSeconds, 'a number of seconds')
    if (this.#trustedUntil === ownSeconds) return
    this.#trustedUntil = ownSeconds
    this.trustAnew()
  }

  /** The clock of the process runs at another rate: what it trusts ends at another true time. */
  trustAnew(): void {
    const trust = this.#trust
    if (trust === undefined || trust < this.#chronicle.now()) return
    if (this.#term !== null) this.#add({ type: 'leadership_renewed', ...this.#now, trustedUntil: trust })
    if (this.#claims.size > 0) this.#add({ type: 'claims_renewed', ...this.#now, trustedUntil: trust })
  }

  /** Looks whether it leads: what it was told may be over already. */
  look(elector: LeaderElector): void {
    if (this.#process.isDead) return
    const token = elector.isLeader ? (('fencingToken' in elector ? (elector.fencingToken as bigint | null) : null) ?? null) : null
    if (this.#term !== null && (!elector.isLeader || this.#term.token !== token)) {
      this.#add({ type: 'leadership_lost', ...this.#now })
      this.say('no longer leads')
      this.#term = null
    }
    if (this.#term === null && elector.isLeader) {
      this.#term = { token }
      this.#add({ type: 'elected', ...this.#now, token, ...this.#trustField })
      this.say(token === null ? 'is elected' : `is elected, term ${token}`)
    }
  }

  claimed({ subscription, fencingToken }: Claim): void {
    if (this.#process.isDead) return
    this.#claims.set(subscription, fencingToken)
    this.#add({ type: 'claimed', ...this.#now, subscription, token: fencingToken, ...this.#trustField })
    this.#list('claims', subscription)
  }

  claimEnded(subscription: string, isReleased: boolean): void {
    if (this.#process.isDead || !this.#claims.delete(subscription)) return
    this.#add({ type: isReleased ? 'claim_released' : 'claim_lost', ...this.#now, subscription })
    this.#list(isReleased ? 'lets go of' : 'loses its claim on', subscription)
  }

  /** It believes that it leads. Past the time that it gave itself, that is a finding of the history. */
  stillLeads(): void {
    const trust = this.#trust
    if (this.#term !== null && trust !== undefined && trust < this.#chronicle.now()) this.#add({ type: 'leadership_renewed', ...this.#now })
  }

  runStarted(subscription: string, token: bigint | null): void {
    this.#add({ type: 'run_started', ...this.#now, subscription, token })
    this.#list('starts', subscription)
  }

  runStopped(subscription: string, cause: RunEnding): void {
    this.#add({ type: 'run_stopped', ...this.#now, subscription, cause })
    this.#list(WORDS[cause], subscription)
  }

  refused(subscription: string, token: bigint | null): void {
    this.#add({ type: 'checkpoint_refused', ...this.#now, subscription, token })
    this.#list('is refused a write to', subscription)
  }

  get #isOn(): boolean {
    return this.#chronicle.isKept && !this.#process.isDead
  }

  get #now(): { readonly at: number; readonly instanceId: string } {
    return { at: this.#chronicle.now(), instanceId: this.instanceId }
  }

  /** Until when it trusts, in true time. */
  get #trust(): number | undefined {
    return this.#trustedUntil === null ? undefined : this.#process.toTrueSeconds(this.#trustedUntil)
  }

  get #trustField(): { readonly trustedUntil?: number } {
    const trust = this.#trust
    return trust === undefined ? {} : { trustedUntil: trust }
  }

  #add(event: HistoryEvent): void {
    if (this.#isOn) this.#chronicle.history.push(event)
  }

  #list(verb: string, subscription: string): void {
    if (this.#isOn) this.#chronicle.transcript.list(this.instanceId, verb, subscription)
  }
}

const WORDS: Readonly<Record<RunEnding, string>> = {
  revoked: 'stops',
  stopping: 'finishes',
  lost: 'drops',
  failed: 'fails at',
  abandoned: 'gives up on',
}
