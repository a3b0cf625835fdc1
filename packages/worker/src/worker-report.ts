import type { LeaderElector, WorkRedistributionCoordinator } from '@es/coordination-core'
import { type FoundProblem, findProblems } from './find-problems.js'
import type { HeartbeatOutage } from './heartbeat-loop.js'
import type { PlanRound } from './plan-round.js'
import { Problems } from './problems.js'
import type { WorkSet } from './work-set.js'
import type { WorkerEvent } from './worker-event.js'
import type { ParsedWorkerOptions } from './worker-options.js'
import type { PeerSummary, PlanSummary, WorkerHealth, WorkerStatus } from './worker-status.js'

/** What a report is made from: the parts of a worker at one moment. */
export interface WorkerFacts {
  readonly phase: WorkerStatus['phase']
  readonly coordinator: WorkRedistributionCoordinator
  readonly elector: LeaderElector
  readonly work: WorkSet
  /** The leader's last round; `null` on a follower, or before the first. */
  readonly last: { readonly round: PlanRound; readonly at: Date } | null
  /** What is assigned and runs nowhere, as far as the leader knows, each with the monotonic time since when; empty on a follower. */
  readonly unowned: ReadonlyMap<string, number>
  /** For how long the leader's work of a term that is over has been going on; 0 when it is not. */
  readonly workOverdueSeconds: number
  /** By how much this process was late a moment ago; `null` when it was not. */
  readonly lateBySeconds: number | null
  readonly publishOutage: HeartbeatOutage | null
  readonly renewalFailedSince: number | null
  readonly whyDeaf: string | null
}

/** Tells people and probes how a worker is. */
export class WorkerReport {
  readonly #options: ParsedWorkerOptions
  readonly #problems: Problems
  #leader: { readonly instanceId: string; readonly since: Date } | null = null
  #leaderHeardAt: number
  #reported = ''

  constructor(options: ParsedWorkerOptions) {
    this.#options = options
    this.#problems = new Problems(options.clock)
    this.#leaderHeardAt = options.clock.monotonicSeconds()
  }

  /** The time without a leader counts from here. */
  started(): void {
    this.#leaderHeardAt = this.#options.clock.monotonicSeconds()
  }

  /** A peer was heard. Returns whether it has begun to lead, as far as this instance can tell. */
  heardLeader(instanceId: string, isLeader: boolean): boolean {
    const before = this.#leader?.instanceId
    if (isLeader) this.#isLedBy(instanceId)
    else if (before === instanceId) this.#leader = null
    return isLeader && before !== instanceId
  }

  health(facts: WorkerFacts): WorkerHealth {
    const problems = this.#problems.update(this.#findProblems(facts))
    const codes = new Set(problems.map(({ code }) => code))
    return {
      status: problems.length === 0 ? 'ok' : 'degraded',
      isLive: !codes.has('renewal_failing'),
      isReady: facts.phase === 'running' && !codes.has('publish_failing') && !codes.has('claims_failing') && !codes.has('deaf'),
      problems,
    }
  }

  /** The event to emit when health is not what it was when this was last asked; `null` when it is. */
  healthChange(facts: WorkerFacts): WorkerEvent | null {
    const { status, problems } = this.health(facts)
    const codes = problems.map(({ code }) => code).sort()
    const summary = codes.join()
    if (summary === this.#reported) return null
    this.#reported = summary
    const { logger, instanceId } = this.#options
    if (problems.length > 0) logger.warn({ instanceId, problems: problems.map(({ message }) => message) }, 'The worker is degraded')
    else logger.info({ instanceId }, 'The worker is well again')
    return { type: 'health_changed', status, problems: codes }
  }

  status(facts: WorkerFacts): WorkerStatus {
    const { coordinator, elector, work, phase } = facts
    const { instanceId, incarnation } = this.#options
    const health = this.health(facts)
    const plan = summarizePlan(facts)
    return {
      ...{ instanceId, incarnation, phase },
      isLeader: elector.isLeader,
      leader: this.#leader,
      epoch: coordinator.highestEpoch?.toString() ?? null,
      desired: work.desired,
      work: work.status(),
      peers: this.#peers(coordinator),
      plan,
      health,
      whyIdle: this.#whyIdle(facts, health, plan),
    }
  }

  #findProblems(facts: WorkerFacts): FoundProblem[] {
    const { phase, elector, work, last } = facts
    const { clock, instanceId } = this.#options
    if (elector.isLeader) this.#isLedBy(instanceId)
    else if (this.#leader?.instanceId === instanceId) this.#leader = null
    if (phase !== 'running') return []
    const report = {
      ...facts,
      leaderHeardAt: this.#leaderHeardAt,
      lockHolder: elector.currentLeader,
      work: work.status(),
      abandoned: work.abandoned,
      claimsFailing: work.claimsFailing,
      lostTogether: [...(last?.round.membership.lostTogether ?? [])],
      unassigned: last?.round.plan?.unassigned ?? [],
    }
    return findProblems(report, this.#options, { monotonic: clock.monotonicSeconds(), wall: clock.now() })
  }

  #isLedBy(instanceId: string): void {
    const { clock } = this.#options
    this.#leaderHeardAt = clock.monotonicSeconds()
    if (this.#leader?.instanceId !== instanceId) this.#leader = { instanceId, since: clock.now() }
  }

  #peers(coordinator: WorkRedistributionCoordinator): PeerSummary[] {
    const now = this.#options.clock.monotonicSeconds()
    return [...coordinator.knownPeers.values()].map(({ instanceId, status, subscriptions, lastHeartbeat, heardAtSeconds }) => ({
      instanceId,
      status,
      isLeader: lastHeartbeat?.isLeader === true && status === 'healthy',
      subscriptions,
      declined: lastHeartbeat?.declined ?? [],
      secondsSinceHeard: now - heardAtSeconds,
    }))
  }

  #whyIdle({ phase, work }: WorkerFacts, { problems }: WorkerHealth, plan: PlanSummary | null): string | null {
    if (phase !== 'running') return `The worker is ${phase}`
    const status = work.status()
    if (status.some((entry) => entry.phase === 'running')) return null
    const denied = status.filter((entry) => entry.phase === 'denied')
    if (denied.length > 0)
      return `Its claims are denied: ${denied.map(({ subscription, holder }) => `${subscription} is held by ${holder ?? 'somebody'}`).join(', ')}`
    const reasons = [...(plan?.held ?? []), ...problems.map(({ message }) => message)]
    const because = reasons.length > 0 ? ` ${reasons.join('; ')}` : ''
    if (work.desired === null) {
      const leader =
        this.#leader === null ? 'No leader is known' : `${this.#leader.instanceId} leads since ${this.#leader.since.toISOString()}`
      return `It has not been assigned anything yet. ${leader}.${because}`
    }
    if (work.desired.length === 0) return `The leader has assigned nothing to it.${because}`
    return reasons.length > 0 ? `It cannot start its subscriptions.${because}` : 'Its subscriptions are about to start.'
  }
}

function summarizePlan({ last }: WorkerFacts): PlanSummary | null {
  if (last === null) return null
  const { plan, held } = last.round
  const pinned = plan?.pinned.map(({ subscription, reason }) => `${subscription}: ${reason}`) ?? []
  return { madeAt: last.at, moves: plan?.moves ?? null, unassigned: plan?.unassigned ?? [], held: [...held, ...pinned] }
}
