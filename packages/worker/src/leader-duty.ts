import { type AssignmentPlan, type Clock, errorMessage, FailureLog, type Logger, type Ownership, sleep, WorkAssignment } from '@es/coordination-core'
import type { ClusterView, InstanceView, Observation } from './cluster-view.js'
import { emptyMembership, type MembershipMemory } from './membership.js'
import { type PlanRound, type PlanRoundOptions, planRound } from './plan-round.js'
import { Soon } from './soon.js'

/** What the leader's duty is made of. */
export interface LeaderDutyOptions {
  readonly instanceId: string
  readonly round: PlanRoundOptions
  readonly ownership: Ownership | null
  readonly observeIntervalSeconds: number
  readonly repeatSeconds: number
  /** Gives leadership up after failing for this many times `repeatSeconds`. */
  readonly maxFailedRounds: number
  /** Monotonic time at which this process started to listen. */
  readonly startedAt: number
  readonly clock: Clock
  readonly logger: Logger
  /** Every known instance, this one included. */
  readonly instances: () => readonly InstanceView[]
  readonly assigned: () => ReadonlyMap<string, string>
  /** Whether this process was late a moment ago and has to hear its peers first, before it judges them. */
  readonly isListening: () => boolean
  /** Why this process is unfit to lead; `null` when it is fit. */
  readonly whyUnfit: () => string | null
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
}

/** What only the leader does: looks who holds what, plans, and tells everybody, again and again until their heartbeats agree. One object for each term. */
export class LeaderDuty {
  readonly #options: LeaderDutyOptions
  readonly #epoch: bigint | null
  readonly #ending = new AbortController()
  readonly #soon: Soon
  readonly #published = new Map<string, Published>()
  readonly #outage: FailureLog
  #memory: MembershipMemory
  #observation: Observation | null = null
  #revision = 0
  #failingSince: number | null = null
  #last: { readonly round: PlanRound; readonly at: Date } | null = null

  constructor(options: LeaderDutyOptions, epoch: bigint | null) {
    this.#options = options
    this.#epoch = epoch
    const { clock, logger, instanceId } = options
    this.#memory = emptyMembership(clock.monotonicSeconds())
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

  /** The last round, and when it was. */
  get last(): { readonly round: PlanRound; readonly at: Date } | null {
    return this.#last
  }

  /** What a round would decide now. Changes nothing. */
  preview(): AssignmentPlan | null {
    return this.#decide().plan
  }

  async #keepObserving(ownership: Ownership): Promise<void> {
    const { clock, round, observeIntervalSeconds } = this.#options
    const { signal } = this.#ending
    const names = round.subscriptions.map(({ name }) => name)
    while (!signal.aborted) {
      const at = clock.monotonicSeconds()
      try {
        const holders = await ownership.observe(names)
        if (signal.aborted) return
        this.#observation = { at, holders: new Map([...holders].map(([name, holder]) => [name, holder.instanceId])) }
        this.#succeeded()
        this.#round()
      } catch (error) {
        if (signal.aborted) return
        this.#failed(`The claims cannot be looked at: ${errorMessage(error)}`)
      }
      await sleep(observeIntervalSeconds, { clock, signal }).catch(() => {})
    }
  }

  #decide(): PlanRound {
    const { clock, round, instanceId, instances, assigned, startedAt } = this.#options
    const view: ClusterView = {
      now: clock.monotonicSeconds(),
      selfId: instanceId,
      instances: instances(),
      observation: this.#observation,
      assigned: assigned(),
    }
    return planRound(view, round, this.#memory, startedAt)
  }

  #round(): void {
    const { clock, ownership, isListening, whyUnfit, planned, repeatSeconds } = this.#options
    if (this.#ending.signal.aborted || (ownership !== null && this.#observation === null)) return
    this.#soon.ask(repeatSeconds)
    const unfitness = whyUnfit()
    if (unfitness !== null) this.#failed(unfitness)
    if (unfitness !== null || isListening()) return
    let round: PlanRound
    try {
      round = this.#decide()
    } catch (error) {
      this.#failed(`Planning failed: ${errorMessage(error)}`)
      return
    }
    this.#memory = round.membership
    this.#last = { round, at: clock.now() }
    planned(round)
    if (round.againAt !== null) this.#soon.ask(round.againAt - clock.monotonicSeconds())
    if (round.plan !== null) this.#announce(round)
  }

  #announce({ assignments }: PlanRound): void {
    const { instanceId, instances, clock, repeatSeconds, apply } = this.#options
    const now = clock.monotonicSeconds()
    const reported = new Map(instances().map((instance) => [instance.instanceId, instance.subscriptions]))
    if ([...assignments].some(([target, subscriptions]) => !isSameList(subscriptions, this.#published.get(target)?.subscriptions))) this.#revision++
    for (const target of this.#published.keys()) if (!assignments.has(target)) this.#published.delete(target)
    for (const [target, subscriptions] of assignments) {
      const before = this.#published.get(target)
      const isNew = !isSameList(subscriptions, before?.subscriptions)
      const isDue = before === undefined || now - before.at >= repeatSeconds
      if (!isNew && !(isDue && !isSameSet(subscriptions, reported.get(target) ?? []))) continue
      this.#published.set(target, { subscriptions, at: now })
      const assignment = this.#assignment(target, subscriptions)
      if (target === instanceId) apply(assignment)
      else void this.#publish(assignment)
    }
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

  async #publish(assignment: WorkAssignment): Promise<void> {
    try {
      await this.#options.publish(assignment)
      this.#succeeded()
    } catch (error) {
      // Forgotten, so that the next round says it again.
      this.#published.delete(assignment.targetInstanceId)
      this.#failed(`An assignment cannot be published: ${errorMessage(error)}`)
    }
  }

  #succeeded(): void {
    this.#failingSince = null
    this.#outage.succeeded()
  }

  #failed(reason: string): void {
    if (this.#ending.signal.aborted) return
    this.#outage.failed(new Error(reason))
    const { clock, maxFailedRounds, repeatSeconds, giveUp } = this.#options
    const now = clock.monotonicSeconds()
    this.#failingSince ??= now
    if (now - this.#failingSince >= maxFailedRounds * repeatSeconds) giveUp(reason)
  }
}

function isSameList(one: readonly string[], other: readonly string[] | undefined): boolean {
  return other !== undefined && one.length === other.length && one.every((name, index) => name === other[index])
}

function isSameSet(one: readonly string[], other: readonly string[]): boolean {
  const set = new Set(other)
  return one.length === set.size && one.every((name) => set.has(name))
}
