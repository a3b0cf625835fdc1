import type { LeaderElector, WorkRedistributionCoordinator } from '@es/coordination-core'
import type { HeartbeatOutage } from './heartbeat-loop.js'
import type { PlanRound } from './plan-round.js'
import { Problems } from './problems.js'
import type { WorkSet } from './work-set.js'
import type { WorkerEvent } from './worker-event.js'
import type { ParsedWorkerOptions } from './worker-options.js'
import type { PeerSummary, PlanSummary, Problem, WorkerHealth, WorkerStatus } from './worker-status.js'

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

type FoundProblem = Omit<Problem, 'since'>

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
    const problems = this.#problems.update(this.#find(facts))
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

  #isLedBy(instanceId: string): void {
    const { clock } = this.#options
    this.#leaderHeardAt = clock.monotonicSeconds()
    if (this.#leader?.instanceId !== instanceId) this.#leader = { instanceId, since: clock.now() }
  }

  #find(facts: WorkerFacts): FoundProblem[] {
    const { phase, elector, work, last, lateBySeconds, publishOutage, renewalFailedSince, whyDeaf } = facts
    const { clock, instanceId, heartbeatTimeoutSeconds, noLeaderWarningSeconds } = this.#options
    if (elector.isLeader) this.#isLedBy(instanceId)
    else if (this.#leader?.instanceId === instanceId) this.#leader = null
    if (phase !== 'running') return []
    const now = clock.monotonicSeconds()
    const found: FoundProblem[] = []
    const add = (code: Problem['code'], message: string): void => void found.push({ code, message })
    if (lateBySeconds !== null)
      add('late', `This process was ${lateBySeconds.toFixed(1)} s late: its event loop is blocked, or it was stopped`)
    if (publishOutage !== null) add('publish_failing', describeOutage(publishOutage, now))
    if (whyDeaf !== null) add('deaf', whyDeaf)
    if (renewalFailedSince !== null)
      add('renewal_failing', `This leader has been unable to renew for ${(now - renewalFailedSince).toFixed(0)} s`)
    const leaderlessSeconds = now - this.#leaderHeardAt
    if (leaderlessSeconds > noLeaderWarningSeconds) {
      const holder = elector.currentLeader
      if (holder === null) add('no_leader', `There has been no leader for ${leaderlessSeconds.toFixed(0)} s`)
      else add('leader_silent', `${holder} holds the leadership, but has not been heard for ${leaderlessSeconds.toFixed(0)} s`)
    }
    if (work.claimsFailing !== null) add('claims_failing', `Claims cannot be made: ${work.claimsFailing}`)
    const status = work.status()
    const failing = status
      .filter(({ failures }) => failures > 0)
      .map(({ subscription, lastError }) => `${subscription} (${lastError ?? 'ended by itself'})`)
    if (failing.length > 0) add('run_failing', `Failing: ${failing.join(', ')}`)
    const denied = status.filter(
      ({ phase: at, since }) => at === 'denied' && clock.now().getTime() - since.getTime() > heartbeatTimeoutSeconds * 1000,
    )
    if (denied.length > 0)
      add(
        'claims_denied',
        `Held by others: ${denied.map(({ subscription, holder }) => `${subscription} (${holder ?? 'unknown'})`).join(', ')}`,
      )
    if (work.abandoned.length > 0) add('run_abandoned', `Abandoned runs that may still be running: ${work.abandoned.join(', ')}`)
    const lostTogether = last === null ? [] : [...last.round.membership.lostTogether]
    if (lostTogether.length > 0) add('mass_loss', `Most instances fell silent at once: ${lostTogether.join(', ')}`)
    if (facts.workOverdueSeconds > this.#options.drainTimeoutSeconds)
      add(
        'leader_work_stuck',
        `The leader's work was told to end ${facts.workOverdueSeconds.toFixed(0)} s ago and goes on; this instance does not lead meanwhile`,
      )
    const unowned = [...facts.unowned].filter(([, since]) => now - since > heartbeatTimeoutSeconds / 3)
    if (unowned.length > 0)
      add(
        'unowned',
        `Assigned, but running nowhere: ${unowned.map(([name, since]) => `${name} (for ${(now - since).toFixed(0)} s)`).join(', ')}`,
      )
    const unassigned = last?.round.plan?.unassigned ?? []
    if (unassigned.length > 0)
      add('unassigned', `Nobody can run ${unassigned.map(({ subscription, reason }) => `${subscription} (${reason})`).join(', ')}`)
    return found
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

function describeOutage({ since, error, lastSentAt }: HeartbeatOutage, now: number): string {
  const last = lastSentAt === null ? 'none was sent so far' : `the last one was sent at ${lastSentAt.toISOString()}`
  return `No heartbeat could be published for ${(now - since).toFixed(0)} s: ${error} (${last})`
}

function summarizePlan({ last }: WorkerFacts): PlanSummary | null {
  if (last === null) return null
  const { plan, held } = last.round
  const pinned = plan?.pinned.map(({ subscription, reason }) => `${subscription}: ${reason}`) ?? []
  return { madeAt: last.at, moves: plan?.moves ?? null, unassigned: plan?.unassigned ?? [], held: [...held, ...pinned] }
}
