import { setMaxListeners } from 'node:events'
import {
  type AssignmentPlan,
  boundedCall,
  type Clock,
  errorMessage,
  FailureLog,
  isSameList,
  type Logger,
  type Ownership,
  sleep,
  WorkAssignment,
} from '@es/coordination-core'
import type { ClusterView, InstanceView, Observation } from './cluster-view.js'
import { firstMembership, type MembershipMemory } from './membership.js'
import { PendingWork } from './pending-work.js'
import { type PlanRound, type PlanRoundOptions, planRound } from './plan-round.js'
import { isSameSet } from './same-names.js'
import { Soon } from './soon.js'

/** What the leader's duty is made of. */
export interface LeaderDutyOptions {
  readonly instanceId: string
  readonly round: PlanRoundOptions
  readonly ownership: Ownership | null
  readonly observeIntervalSeconds: number
  /** How often an assignment is said again that its target does not seem to have heard. */
  readonly repeatSeconds: number
  /** How often every assignment is said again: a target that wants something it was since told not to run looks like one that heard. */
  readonly refreshSeconds: number
  /** Gives leadership up after failing for this many times `repeatSeconds`. */
  readonly maxFailedRounds: number
  /** Monotonic time until which this process has to have listened since it started. */
  readonly coldUntil: number
  readonly clock: Clock
  readonly logger: Logger
  /** Every known instance, this one included. */
  readonly instances: () => readonly InstanceView[]
  readonly assigned: () => ReadonlyMap<string, string>
  readonly homes: () => ReadonlyMap<string, string>
  /** Whether the term goes on. A loss may be told late. */
  readonly isInOffice: () => boolean
  /** Whether this process has to hear its peers first, before it judges them: it was late, or cut off, a moment ago. */
  readonly isListening: () => boolean
  /** Why this process is unfit to lead; `null` when it is fit. */
  readonly whyUnfit: () => string | null
  /** Writes an assignment into the book, whether or not it arrives anywhere: what was said once is not given to somebody else. */
  readonly note: (assignment: WorkAssignment) => void
  readonly publish: (assignment: WorkAssignment) => Promise<void>
  /** Takes this instance's own assignment. */
  readonly apply: (assignment: WorkAssignment) => void
  readonly planned: (round: PlanRound) => void
  /** The leader failed its duty several rounds in a row. */
  readonly giveUp: (reason: string) => void
}

interface Published {
  readonly subscriptions: readonly string[]
  readonly at: number
  hasFailed: boolean
  /** Since when the instance has been told so and does not say it runs it; `null` once it does. */
  unheededSince: number | null
}

const RETRY_SECONDS = 1

/** What a leader can fail at, each on its own: to see the claims does not make up for hearing nobody. */
type Task = 'observe' | 'listen' | 'plan' | 'publish'

/** What only the leader does: looks who holds what, plans, and tells everybody, again and again until their heartbeats agree. One object for each term. */
export class LeaderDuty {
  readonly #options: LeaderDutyOptions
  readonly #epoch: bigint | null
  readonly #ending = new AbortController()
  readonly #soon: Soon
  readonly #published = new Map<string, Published>()
  readonly #pending = new PendingWork()
  readonly #failingSince = new Map<Task, number>()
  readonly #outage: FailureLog
  readonly #beganAt: number
  #memory: MembershipMemory
  #observation: Observation | null = null
  #unowned: ReadonlyMap<string, number> = new Map()
  #revision = 0
  #last: { readonly round: PlanRound; readonly at: Date } | null = null

  constructor(options: LeaderDutyOptions, epoch: bigint | null) {
    this.#options = options
    this.#epoch = epoch
    const { clock, logger, instanceId, instances, round } = options
    this.#beganAt = clock.monotonicSeconds()
    // A large cluster is told all at once, and each call that is under way listens; none is left behind.
    setMaxListeners(0, this.#ending.signal)
    this.#memory = firstMembership(clock.monotonicSeconds(), instances(), round)
    this.#outage = new FailureLog({ what: 'Leading', clock, logger, fields: { instanceId } })
    this.#soon = new Soon(clock, () => this.#round())
  }

  start(): void {
    if (this.#options.ownership === null) this.#soon.ask()
    else void this.#keepObserving(this.#options.ownership)
  }

  end(): void {
    this.#ending.abort()
    this.#soon.stop()
  }

  /** Something has changed: plan in a moment. */
  hurry(): void {
    this.#soon.ask()
  }

  /** A peer was heard. While this leader listens that may be the one it waits for. */
  heard(): void {
    if (this.#last?.round.plan === null) this.#soon.ask()
  }

  /** The last round, and when it was. */
  get last(): { readonly round: PlanRound; readonly at: Date } | null {
    return this.#last
  }

  /** What is assigned and runs nowhere yet, each with the monotonic time since when. */
  get unowned(): ReadonlyMap<string, number> {
    return this.#unowned
  }

  /** What a round would decide now; `null` while this leader listens. Changes nothing. Throws what the planner throws. */
  preview(): AssignmentPlan | null {
    return this.#isReady ? this.#decide(this.#options.instances()).plan : null
  }

  async #keepObserving(ownership: Ownership): Promise<void> {
    const { clock, round, observeIntervalSeconds, repeatSeconds } = this.#options
    const { signal } = this.#ending
    const names = round.subscriptions.map(({ name }) => name)
    const call = {
      clock,
      what: 'Looking at the claims',
      timeoutSeconds: Math.max(repeatSeconds, observeIntervalSeconds),
      signals: [signal],
    }
    while (!signal.aborted) {
      const at = clock.monotonicSeconds()
      try {
        const holders = await boundedCall(call, () => ownership.observe(names))
        this.#observation = { at, holders: new Map([...holders].map(([name, holder]) => [name, holder.instanceId])) }
        this.#succeeded('observe')
        this.#round()
      } catch (error) {
        if (signal.aborted) return
        this.#failed('observe', 'The claims cannot be looked at', error)
      }
      await sleep(observeIntervalSeconds, { clock, signal }).catch(() => {})
    }
  }

  get #isReady(): boolean {
    return this.#options.ownership === null || this.#observation !== null
  }

  #decide(instances: readonly InstanceView[]): PlanRound {
    const { clock, round, instanceId, assigned, homes } = this.#options
    const view: ClusterView = {
      now: clock.monotonicSeconds(),
      selfId: instanceId,
      instances,
      observation: this.#observation,
      assigned: assigned(),
      pending: this.#pending.owners,
      homes: homes(),
      toldAt: new Map(
        [...this.#published].flatMap(([id, { unheededSince }]) => (unheededSince === null ? [] : [[id, unheededSince] as const])),
      ),
      told: new Set([...this.#published].filter(([, { subscriptions }]) => subscriptions.length > 0).map(([id]) => id)),
    }
    return planRound(view, round, this.#memory, this.#listensUntil(instances))
  }

  /**
   * Without claims, who runs what is known only from those who were heard: whoever acts on a word of the leader before has to be heard once in this
   * term, or to fall silent for good.
   */
  #listensUntil(instances: readonly InstanceView[]): number {
    const { ownership, coldUntil, instanceId, round } = this.#options
    if (ownership !== null) return coldUntil
    // One that drains takes nothing new: what it said last is all that it can have.
    const isAwaited = ({ instanceId: id, status, heardAt }: InstanceView): boolean =>
      id !== instanceId && status === 'healthy' && heardAt <= this.#beganAt
    return instances.some(isAwaited) ? Math.max(coldUntil, this.#beganAt + round.heartbeatTimeoutSeconds) : coldUntil
  }

  #round(): void {
    const { isInOffice, isListening, whyUnfit, repeatSeconds } = this.#options
    if (this.#ending.signal.aborted || !this.#isReady) return
    this.#soon.ask(repeatSeconds)
    if (!isInOffice()) return
    const unfitness = whyUnfit()
    if (unfitness !== null) {
      this.#failed('listen', unfitness)
      return
    }
    this.#succeeded('listen')
    if (!isListening()) this.#plan()
  }

  #plan(): void {
    const { clock, planned } = this.#options
    try {
      const instances = this.#options.instances()
      this.#pending.heard(instances)
      const round = this.#decide(instances)
      this.#memory = round.membership
      this.#last = { round, at: clock.now() }
      planned(round)
      if (round.againAt !== null) this.#soon.ask(round.againAt - clock.monotonicSeconds())
      if (round.plan !== null) this.#announce(round)
      this.#succeeded('plan')
    } catch (error) {
      this.#failed('plan', 'Planning failed', error)
    }
  }

  #announce({ assignments }: PlanRound): void {
    const { instanceId, instances, clock, note, apply } = this.#options
    const now = clock.monotonicSeconds()
    const known = new Map(instances().map((instance) => [instance.instanceId, instance]))
    const changed = new Set<string>()
    for (const [target, subscriptions] of assignments) {
      if (!isSameList(subscriptions, this.#published.get(target)?.subscriptions)) changed.add(target)
    }
    if (changed.size > 0) this.#revision++
    for (const target of this.#published.keys()) if (!assignments.has(target)) this.#published.delete(target)
    this.#unowned = this.#findUnowned(assignments, known, now)
    for (const [target, subscriptions] of assignments) {
      const before = this.#published.get(target)
      const isSame = !changed.has(target)
      const { subscriptions: reported = [], heardAt = now } = known.get(target) ?? {}
      const isHeeded = isSameSet(subscriptions, reported)
      if (before !== undefined && isHeeded) before.unheededSince = null
      if (before !== undefined && isSame && now < before.at + this.#pauseAfter(before, heardAt)) continue
      const unheededSince = isHeeded ? null : ((isSame ? before?.unheededSince : null) ?? now)
      const published = { subscriptions, at: now, hasFailed: false, unheededSince }
      this.#published.set(target, published)
      const assignment = this.#assignment(target, subscriptions)
      note(assignment)
      if (target === instanceId) apply(assignment)
      else if (changed.has(target)) this.#pending.told(target, subscriptions, now)
      // Also this instance's own, so that whoever leads next knows what was whose.
      void this.#publish(assignment, published)
    }
  }

  /** How long what was published is left to have its effect. Who has not been heard since may not have heard it either. */
  #pauseAfter({ hasFailed, unheededSince }: Published, heardAt: number): number {
    const { repeatSeconds, refreshSeconds } = this.#options
    if (hasFailed) return Math.min(RETRY_SECONDS, repeatSeconds)
    if (unheededSince === null) return refreshSeconds
    return heardAt <= unheededSince ? Math.min(RETRY_SECONDS, repeatSeconds) : repeatSeconds
  }

  #findUnowned(assignments: PlanRound['assignments'], known: ReadonlyMap<string, InstanceView>, now: number): ReadonlyMap<string, number> {
    const unowned = new Map<string, number>()
    for (const [target, subscriptions] of assignments) {
      const running = new Set(known.get(target)?.subscriptions)
      for (const name of subscriptions) if (!running.has(name)) unowned.set(name, this.#unowned.get(name) ?? now)
    }
    return unowned
  }

  #assignment(targetInstanceId: string, subscriptions: readonly string[]): WorkAssignment {
    return new WorkAssignment({
      targetInstanceId,
      subscriptions,
      sourceInstanceId: this.#options.instanceId,
      assignedAt: this.#options.clock.now(),
      epoch: this.#epoch ?? undefined,
      revision: this.#epoch === null ? undefined : this.#revision,
    })
  }

  async #publish(assignment: WorkAssignment, published: Published): Promise<void> {
    const { clock, repeatSeconds, publish } = this.#options
    try {
      const limit = { clock, what: 'Publishing an assignment', timeoutSeconds: repeatSeconds, signals: [this.#ending.signal] }
      await boundedCall(limit, () => publish(assignment))
      this.#succeeded('publish')
    } catch (error) {
      published.hasFailed = true
      this.#failed('publish', 'An assignment cannot be published', error)
    }
  }

  #succeeded(task: Task): void {
    this.#failingSince.delete(task)
    if (this.#failingSince.size === 0) this.#outage.succeeded()
  }

  /** `error`: what was thrown, if anything was. It is logged as the cause, so that where it comes from can be seen. */
  #failed(task: Task, what: string, error?: unknown): void {
    if (this.#ending.signal.aborted) return
    const reason = error === undefined ? what : `${what}: ${errorMessage(error)}`
    this.#outage.failed(new Error(reason, { cause: error }))
    const { clock, maxFailedRounds, repeatSeconds, giveUp } = this.#options
    const now = clock.monotonicSeconds()
    const since = this.#failingSince.get(task) ?? now
    this.#failingSince.set(task, since)
    if (now < since + maxFailedRounds * repeatSeconds) return
    this.end()
    giveUp(reason)
  }
}
