import { type Claim, nextSubscriptionStep, type SubscriptionStep } from '@es/coordination-core'
import { ClaimDesk } from './claim-desk.js'
import { RunKeeper } from './run-keeper.js'
import { Soon } from './soon.js'
import { WorkEntry } from './work-entry.js'
import { WorkOrder } from './work-order.js'
import type { StopCause, WorkerEvent } from './worker-event.js'
import type { ParsedWorkerOptions } from './worker-options.js'
import type { WorkStatus } from './worker-status.js'

/** What a {@link WorkSet} is made of. */
export interface WorkSetOptions {
  readonly options: ParsedWorkerOptions
  /** Looks at the peers; what it returns tells whether one that is alive runs a subscription, as far as claims do not tell. Costs O(peers). */
  readonly lookElsewhere: () => (subscription: string) => boolean
  /** Whether others must take this instance for gone, where no claim tells: what runs here is not its own any more. */
  readonly isCutOff: () => boolean
  /** Whether the others hear this instance. */
  readonly isHeard: () => boolean
  readonly emit: (event: WorkerEvent) => void
  /** What {@link WorkSet.holding}, {@link WorkSet.declined} or {@link WorkSet.capacity} says has changed, or a claim was lost. */
  readonly changed: () => void
}

// While something that should run here does not, somebody may have let go of it unheard.
const LOOK_AGAIN_SECONDS = 1

/** The subscriptions of this instance: claims, starts, stops and releases them until what runs is what should. */
export class WorkSet {
  readonly #options: ParsedWorkerOptions
  readonly #lookElsewhere: WorkSetOptions['lookElsewhere']
  readonly #isCutOff: WorkSetOptions['isCutOff']
  readonly #emit: (event: WorkerEvent) => void
  readonly #changed: () => void
  readonly #order: WorkOrder
  readonly #entries = new Map<string, WorkEntry>()
  readonly #runs: RunKeeper
  readonly #desk: ClaimDesk | null
  readonly #soon: Soon
  #denied = ''
  #standing = ''
  #isReconciling = false
  #mustReconcile = false
  #drainBy = Number.POSITIVE_INFINITY
  #drained: ((abandoned: readonly string[]) => void) | null = null

  constructor({ options, lookElsewhere, isCutOff, isHeard, emit, changed }: WorkSetOptions) {
    this.#options = options
    this.#lookElsewhere = lookElsewhere
    this.#isCutOff = isCutOff
    this.#emit = emit
    this.#changed = changed
    this.#order = new WorkOrder(options.subscriptions, options.mayRun)
    this.#soon = new Soon(options.clock, () => this.#reconcile())
    // In a moment: runs that end together, as when the worker stops, must not cost a pass over all of them each.
    this.#runs = new RunKeeper({ options, emit, settled: () => this.#soon.ask() })
    const { ownership } = options
    this.#desk =
      ownership &&
      new ClaimDesk({
        ...options,
        ownership,
        isHeard,
        unfitAfterSeconds: options.heartbeatIntervalSeconds,
        claimed: (claims) => this.#take(claims),
        denied: (subscription, holder) => this.#deny(subscription, holder),
      })
  }

  /** What this instance was last told to run; `null` before it was told anything. */
  get desired(): readonly string[] | null {
    return this.#order.assigned
  }

  /** Whether the cluster has such a subscription, as far as this instance knows. */
  knows(name: string): boolean {
    return this.#order.knows(name)
  }

  /** Why claims cannot be made; `null` while they can. */
  get claimsFailing(): string | null {
    return this.#desk?.failing ?? null
  }

  /** Subscriptions with a run that was given up and may still be going on. */
  get abandoned(): readonly string[] {
    return [...this.#entries.values()].filter(({ abandonedRuns }) => abandonedRuns > 0).map(({ name }) => name)
  }

  /** Takes an assignment: the full set to run. */
  assign(subscriptions: readonly string[], epoch: bigint | null): void {
    const isNew = this.#order.assign(subscriptions)
    for (const name of this.#order.wanted) this.#entry(name)
    if (isNew) this.#emit({ type: 'assignment_changed', subscriptions, epoch })
    this.#reconcile()
  }

  /** A peer may have let go of something. */
  hurry(): void {
    for (const entry of this.#entries.values()) entry.claimAgainAt = Number.NEGATIVE_INFINITY
    this.#soon.ask()
  }

  /** What nobody else may run now. In the order in which it was first assigned. */
  holding(): readonly string[] {
    return [...this.#entries.values()].filter(({ isHeld }) => isHeld).map(({ name }) => name)
  }

  /** What this instance cannot run: never, not now, or not as far as it knows. */
  declined(): readonly string[] {
    const now = this.#now()
    const entries = [...this.#entries.values()].filter((entry) => entry.isDeclined(now))
    return this.#order.decline(entries.map(({ name }) => name))
  }

  /** The most work that this instance takes: none while it alone cannot claim, so that somebody else is given it. */
  get capacity(): number | undefined {
    return this.#desk !== null && this.#now() < this.#desk.unfitUntil ? 0 : this.#options.capacity
  }

  status(): readonly WorkStatus[] {
    const now = this.#now()
    for (const entry of this.#entries.values()) entry.forgive(now, this.#options)
    return [...this.#entries.values()].map((entry) => entry.status()).filter((status) => status !== null)
  }

  /**
   * Stops everything, and takes nothing new. Resolves once everything is released, with the subscriptions whose run had not ended at
   * `deadline` (monotonic seconds). Never rejects.
   */
  drain(deadline: number): Promise<readonly string[]> {
    this.#drainBy = deadline
    this.#desk?.close(deadline)
    return new Promise((resolve) => {
      this.#drained = resolve
      this.#reconcile()
    })
  }

  get #isDraining(): boolean {
    return this.#drainBy !== Number.POSITIVE_INFINITY
  }

  #entry(name: string): WorkEntry {
    let entry = this.#entries.get(name)
    if (entry === undefined) {
      entry = new WorkEntry(name)
      this.#entries.set(name, entry)
    }
    return entry
  }

  /** Takes every step that can be taken. Steps run the user's code, which may ask for more. */
  #reconcile(): void {
    this.#mustReconcile = true
    if (this.#isReconciling) return
    this.#isReconciling = true
    try {
      while (this.#mustReconcile) {
        this.#mustReconcile = false
        this.#takeSteps(this.#now())
      }
    } finally {
      this.#isReconciling = false
    }
    this.#takeStock(this.#now())
  }

  #takeSteps(now: number): void {
    const toClaim: WorkEntry[] = []
    const toRelease: WorkEntry[] = []
    let look: ((subscription: string) => boolean) | null = null
    const isListedElsewhere = (subscription: string): boolean => {
      look ??= this.#lookElsewhere()
      return look(subscription)
    }
    for (const entry of this.#entries.values()) {
      switch (this.#nextStep(entry, now, isListedElsewhere)) {
        case 'claim':
          toClaim.push(entry)
          break
        case 'release':
          toRelease.push(entry)
          break
        case 'start':
          this.#runs.start(entry)
          break
        case 'stop':
          this.#stop(entry, this.#isDraining ? 'stopping' : 'revoked')
          break
        case 'lose':
          this.#stop(entry, 'lost')
          break
        case 'abandon':
          this.#runs.abandon(entry)
          this.#mustReconcile = true
          break
        case 'wait':
          break
      }
    }
    if (toRelease.length > 0) void this.#release(toRelease)
    if (toClaim.length > 0 && !this.#isDraining) void this.#claim(toClaim)
  }

  #nextStep(entry: WorkEntry, now: number, isListedElsewhere: (subscription: string) => boolean): SubscriptionStep {
    const isDesired = this.#isDesired(entry, now)
    const isFree = entry.run !== null ? !this.#isCutOff() : !isDesired || !isListedElsewhere(entry.name)
    return nextSubscriptionStep({
      isDesired,
      run: entry.runPhase,
      isOverdue: entry.stopBy !== null && now >= this.#deadlineOf(entry.stopBy),
      hasAbandonedRun: entry.abandonedRuns > 0,
      isOurs: this.#desk === null ? isFree : (entry.run !== null || isFree) && entry.claim?.isHeld === true,
      isBusy: entry.busy !== null,
      mayClaim: isFree && this.#desk !== null && !this.#desk.isClaiming && now >= Math.max(this.#desk.againAt, entry.claimAgainAt),
      mayRelease: entry.claim !== null,
      mayStart: now >= entry.mayStartAt,
    })
  }

  #isDesired(entry: WorkEntry, now: number): boolean {
    return !this.#isDraining && this.#order.wanted.has(entry.name) && entry.declinedUntil <= now
  }

  /** Whoever leaves does not wait longer for a run that was told to stop before. */
  #deadlineOf(stopBy: number): number {
    return Math.min(stopBy, this.#drainBy)
  }

  /** Looks at what has become of everything: what to forget, to announce, and when to look again. */
  #takeStock(now: number): void {
    const at = this.#options.clock.now()
    let next = Number.POSITIVE_INFINITY
    const lookAgainAt = (time: number): void => {
      if (time > now && time < next) next = time
    }
    lookAgainAt(this.#desk?.unfitUntil ?? now)
    let wantsClaim = false
    let hasNews = false
    for (const entry of this.#entries.values()) {
      const isDesired = this.#isDesired(entry, now)
      if (!isDesired) entry.isDenied = false
      wantsClaim ||= isDesired && entry.claim === null
      entry.note(isDesired, now, at)
      if (entry.takeNews(now)) hasNews = true
      if (!isDesired && !this.#order.wanted.has(entry.name) && entry.isIdle(now)) this.#entries.delete(entry.name)
      lookAgainAt(entry.stopBy === null ? now : this.#deadlineOf(entry.stopBy))
      lookAgainAt(entry.mayStartAt)
      lookAgainAt(entry.declinedUntil)
      if (isDesired && entry.run === null && entry.busy === null) {
        lookAgainAt(this.#desk?.againAt ?? now)
        lookAgainAt(entry.claimAgainAt)
        lookAgainAt(now + LOOK_AGAIN_SECONDS)
      }
    }
    if (!wantsClaim) this.#desk?.forgetOutage()
    if (next < Number.POSITIVE_INFINITY) this.#soon.ask(next - now)
    // Whoever cannot claim says at least that it is alive.
    const standing = `${this.capacity} ${this.claimsFailing !== null} ${this.#order.unknownCount}`
    if (hasNews || standing !== this.#standing) {
      this.#standing = standing
      this.#changed()
    }
    this.#reportDenied()
    if (this.#drained !== null && [...this.#entries.values()].every(({ isHeld, busy }) => !isHeld && busy === null)) {
      this.#soon.stop()
      this.#drained(this.abandoned)
      this.#drained = null
    }
  }

  async #claim(entries: readonly WorkEntry[]): Promise<void> {
    for (const entry of entries) entry.busy = 'claiming'
    await this.#desk?.claim(entries.map(({ name }) => name))
    for (const entry of entries) entry.busy = null
    this.#reconcile()
  }

  #take(claims: readonly Claim[]): void {
    let isLate = false
    for (const claim of claims) {
      const entry = this.#entry(claim.subscription)
      if (entry.claim === claim) continue
      entry.claim = claim
      entry.isDenied = false
      claim.signal.addEventListener('abort', () => this.#claimEnded(entry, claim), { once: true })
      if (claim.signal.aborted) this.#claimEnded(entry, claim)
      isLate ||= entry.busy === null
    }
    // Claims that come after their call was given up, maybe after everything else has ended: whether they are of any use is decided anew.
    if (isLate) this.#reconcile()
  }

  #deny(subscription: string, holder: string | null): void {
    const entry = this.#entries.get(subscription)
    if (entry === undefined) return
    entry.isDenied = true
    entry.holder = holder
    entry.claimAgainAt = this.#now() + LOOK_AGAIN_SECONDS
  }

  #claimEnded(entry: WorkEntry, claim: Claim): void {
    if (entry.claim !== claim || entry.busy === 'releasing') return
    entry.claim = null
    this.#emit({ type: 'claim_lost', subscription: entry.name, fencingToken: claim.fencingToken })
    if (entry.run?.fencingToken === claim.fencingToken) this.#stop(entry, 'lost')
    this.#changed()
    this.#soon.ask()
  }

  async #release(entries: readonly WorkEntry[]): Promise<void> {
    for (const entry of entries) entry.busy = 'releasing'
    await this.#desk?.release(entries.map(({ name }) => name))
    for (const entry of entries) {
      entry.claim = null
      entry.busy = null
    }
    this.#reconcile()
  }

  #stop(entry: WorkEntry, cause: StopCause): void {
    this.#runs.stop(entry, cause)
    this.#soon.ask()
  }

  #reportDenied(): void {
    const denied = [...this.#entries.values()]
      .filter((entry) => entry.isDenied && this.#order.wanted.has(entry.name))
      .map(({ name, holder }) => ({ subscription: name, holder }))
    const summary = denied.map(({ subscription, holder }) => `${subscription}\0${holder}`).join('\0\0')
    if (summary === this.#denied) return
    this.#denied = summary
    this.#emit({ type: 'claims_denied', denied })
  }

  #now(): number {
    return this.#options.clock.monotonicSeconds()
  }
}
