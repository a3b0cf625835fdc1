import {
  type AssignmentPlan,
  bindCoordinator,
  CallbackList,
  CoordinationError,
  type CoordinatorBinding,
  type HeartbeatMessage,
  ShutdownIntent,
  sleep,
  type Unsubscribe,
  type WorkAssignment,
  WorkRedistributionCoordinator,
} from '@es/coordination-core'
import { AssignmentBook } from './assignment-book.js'
import type { InstanceView } from './cluster-view.js'
import { HeartbeatLoop } from './heartbeat-loop.js'
import { Lateness } from './lateness.js'
import { LeaderDuty } from './leader-duty.js'
import { LeaderTask } from './leader-task.js'
import { epochOf, LeadershipLoop } from './leadership-loop.js'
import type { PlanRound } from './plan-round.js'
import { onTerminationSignal } from './process-signals.js'
import { Soon } from './soon.js'
import { WorkSet } from './work-set.js'
import type { WorkerEvent } from './worker-event.js'
import { type CoordinatedWorkerOptions, type ParsedWorkerOptions, parseWorkerOptions } from './worker-options.js'
import { WorkerReport } from './worker-report.js'
import type { WorkerHealth, WorkerStatus } from './worker-status.js'

/** How {@link CoordinatedWorker.stop} leaves. */
export interface StopOptions {
  /** Told to the peers. @default ShutdownIntent.Graceful */
  readonly intent?: ShutdownIntent
  /** How long runs have to end, in seconds; 0 does not wait. @default the worker's drainTimeoutSeconds */
  readonly drainTimeoutSeconds?: number
}

/** How leaving went. */
export interface StopResult {
  /** Subscriptions whose `run` had not ended at the deadline; it may still be running, and only its fencing token keeps it from doing harm. */
  readonly abandoned: readonly string[]
}

type Phase = WorkerStatus['phase']

/**
 * Shares subscriptions among processes: each is run by exactly one of them, moves when processes come and go, and starts in its new owner
 * the moment the old one has let go.
 *
 * What it guarantees rests on its adapters. With an ownership adapter a subscription runs only while this instance holds the claim on it;
 * without, while no other instance that is heard lists it, which does not hold through a partition.
 *
 * It never throws out of a timer or callback, and nothing of it keeps the process alive after {@link stop}.
 */
export class CoordinatedWorker implements AsyncDisposable {
  readonly instanceId: string
  readonly #options: ParsedWorkerOptions
  readonly #coordinator: WorkRedistributionCoordinator
  readonly #book = new AssignmentBook()
  readonly #events: CallbackList<[WorkerEvent]>
  readonly #work: WorkSet
  readonly #heartbeats: HeartbeatLoop
  readonly #leadership: LeadershipLoop
  readonly #leaderTask: LeaderTask | null
  readonly #lateness: Lateness
  readonly #checks: Soon
  readonly #report: WorkerReport
  readonly #unsubscribes: Unsubscribe[] = []
  #phase: Phase = 'new'
  #binding: CoordinatorBinding | null = null
  #startedAt = Number.NEGATIVE_INFINITY
  #duty: LeaderDuty | null = null
  #ownHeartbeatAt: number | null = null
  #unassigned = ''
  #stopped: Promise<StopResult> | null = null

  /** @throws CoordinationError `invalid_options` naming the option, its value and the rule. Nothing is started. */
  constructor(options: CoordinatedWorkerOptions) {
    this.#options = parseWorkerOptions(options)
    const { instanceId, incarnation, elector, heartbeatTimeoutSeconds, heartbeatIntervalSeconds, clock, logger, leaderWork } = this.#options
    this.instanceId = instanceId
    this.#events = new CallbackList('worker-event', logger)
    this.#coordinator = new WorkRedistributionCoordinator({ instanceId, incarnation, leaderElector: elector, heartbeatTimeoutSeconds, clock, logger })
    this.#work = new WorkSet({
      options: this.#options,
      isListedElsewhere: (subscription) => this.#isListedElsewhere(subscription),
      emit: (event) => this.#emit(event),
      changed: () => {
        this.#heartbeats.announce()
        this.#duty?.hurry()
      },
    })
    this.#heartbeats = new HeartbeatLoop({
      instanceId,
      intervalSeconds: heartbeatIntervalSeconds,
      clock,
      logger,
      create: () => this.#createHeartbeat(),
      publish: (heartbeat) => this.#publish(heartbeat),
    })
    this.#leadership = new LeadershipLoop({
      elector,
      intervalSeconds: this.#options.electionIntervalSeconds,
      clock,
      logger,
      gained: () => this.#lead(),
      lost: () => this.#follow(),
    })
    this.#leaderTask = leaderWork === null ? null : new LeaderTask({ ...this.#options, work: leaderWork, fields: { instanceId } })
    this.#lateness = new Lateness({ clock, lateAfterSeconds: heartbeatTimeoutSeconds / 3, recoverySeconds: heartbeatIntervalSeconds })
    this.#checks = new Soon(clock, () => void this.#check())
    this.#report = new WorkerReport(this.#options)
  }

  /**
   * Takes part: listens, sends the first heartbeat, stands for election. Resolves when the instance can be heard; its work begins when the leader
   * assigns it.
   *
   * @throws ConnectionError when the transport cannot be reached. Nothing runs then, and `start()` may be called again.
   * @throws CoordinationError `already_started` when it was started before.
   */
  async start(): Promise<void> {
    if (this.#phase !== 'new') throw new CoordinationError('already_started', `The worker is ${this.#phase}; make a new one to start again`)
    this.#phase = 'starting'
    const { transport, logger, clock, mayLead, handleSignals } = this.#options
    try {
      this.#binding = await bindCoordinator(this.#coordinator, transport, {
        logger,
        onHeartbeat: (heartbeat) => this.#hear(heartbeat),
        onWorkAssignment: (assignment) => this.#book.note(assignment),
      })
    } catch (error) {
      if (this.#phase === 'starting') this.#phase = 'new'
      throw error
    }
    if (this.#phase !== 'starting') return
    this.#phase = 'running'
    this.#startedAt = clock.monotonicSeconds()
    this.#report.started()
    this.#coordinator.onWorkAssignment((assignment) => this.#assign(assignment))
    this.#coordinator.onPeerStatusChange((change) => {
      this.#emit({ type: 'peer_changed', instanceId: change.instanceId, previous: change.previous, status: change.status })
      // Whoever is new wants to know who is here; a large cluster must not answer in one breath.
      if (change.previous === 'unknown' || change.restarted) this.#heartbeats.announce(this.#options.random() * Math.min(1, this.#coordinator.healthyPeerCount / 100))
      this.#peersChanged()
    })
    this.#unsubscribes.push(transport.onResync(() => this.#heartbeats.announce()))
    if (handleSignals) this.#unsubscribes.push(onTerminationSignal(() => void this.stop()))
    this.#lateness.start()
    this.#heartbeats.announce()
    this.#checks.ask(this.#options.heartbeatIntervalSeconds)
    if (mayLead) this.#leadership.start()
    this.#emit({ type: 'started' })
  }

  /**
   * Leaves, once for however many calls: announces it with `intent` and deadline, hands leadership over (after the leader's work has ended), takes no
   * new work, tells every run to end and lets go of each subscription as its run has ended, sends a last heartbeat. Runs that have not ended
   * at the deadline are abandoned and named. Resolves when the instance has left, never rejects; closes what `dispose` lists.
   */
  stop(options: StopOptions = {}): Promise<StopResult> {
    this.#stopped ??= this.#leave(options)
    return this.#stopped
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
  }

  /** Registers `listener` for all events from now on. They come in the order in which they happened; one that throws is logged. */
  onEvent(listener: (event: WorkerEvent) => void): Unsubscribe {
    this.#events.add(listener)
    return () => void this.#events.remove(listener)
  }

  /** Everything about the worker at this moment, as plain data. Costs O(peers). */
  status(): WorkerStatus {
    return this.#report.status(this.#facts())
  }

  /** For readiness and liveness probes: `isReady`, `isLive`, and what is wrong. */
  health(): WorkerHealth {
    return this.#report.health(this.#facts())
  }

  /** What the leader would decide now, with the reason of each move: a dry run that changes nothing. `null` on a follower, and while a new leader listens. */
  plan(): AssignmentPlan | null {
    return this.#duty?.preview() ?? null
  }

  async #leave({ intent = ShutdownIntent.Graceful, drainTimeoutSeconds = this.#options.drainTimeoutSeconds }: StopOptions): Promise<StopResult> {
    const wasRunning = this.#phase === 'running'
    this.#phase = 'stopping'
    const { clock, dispose, logger, instanceId } = this.#options
    let abandoned: readonly string[] = []
    if (wasRunning) {
      this.#emit({ type: 'stopping', intent, drainTimeoutSeconds })
      const deadline = clock.monotonicSeconds() + drainTimeoutSeconds
      const drained = this.#work.drain(deadline)
      await this.#sayGoodbye(intent, drainTimeoutSeconds)
      await this.#handLeadershipOver(deadline)
      abandoned = await drained
      this.#checks.stop()
      this.#lateness.stop()
      await this.#heartbeats.stop()
    }
    this.#binding?.unbind()
    for (const unsubscribe of this.#unsubscribes.splice(0)) unsubscribe()
    for (const resource of dispose) {
      try {
        await resource[Symbol.asyncDispose]()
      } catch (error) {
        logger.error({ instanceId, error }, 'An adapter could not be closed')
      }
    }
    this.#phase = 'stopped'
    this.#emit({ type: 'stopped', abandoned })
    return { abandoned }
  }

  async #sayGoodbye(intent: ShutdownIntent, drainTimeoutSeconds: number): Promise<void> {
    const { logger, instanceId } = this.#options
    const notification = this.#coordinator.createShutdownNotification({
      intent,
      subscriptions: this.#work.holding(),
      inFlightCount: this.#sample('inFlightCount', this.#options.inFlightCount),
      drainTimeoutSeconds,
    })
    try {
      await this.#binding?.publish(notification)
    } catch (error) {
      logger.warn({ instanceId, error }, 'Could not announce the departure; the others notice it by silence')
    }
  }

  async #handLeadershipOver(deadline: number): Promise<void> {
    const { clock, logger, instanceId } = this.#options
    // The leader's work may take until the deadline; whoever leads next must not begin before it has ended.
    if (this.#leaderTask !== null) {
      const limit = new AbortController()
      const ended = this.#leaderTask.end('The worker stops').then(() => limit.abort())
      await Promise.race([ended, sleep(Math.max(0, deadline - clock.monotonicSeconds()), { clock, signal: limit.signal }).catch(() => {})])
    }
    await this.#leadership.stop()
    this.#endDuty()
    try {
      await this.#coordinator.initiateLeadershipHandoff()
    } catch (error) {
      logger.warn({ instanceId, error }, 'Could not hand leadership over; it ends with the lease')
    }
  }

  #lead(): void {
    const { elector, instanceId, ownership, observeIntervalSeconds, heartbeatIntervalSeconds, maxFailedRounds, clock, logger } = this.#options
    if (this.#phase !== 'running') return
    const epoch = epochOf(elector)
    this.#endDuty()
    this.#emit({ type: 'leadership_gained', epoch })
    this.#duty = new LeaderDuty(
      {
        ...{ instanceId, ownership, observeIntervalSeconds, maxFailedRounds, clock, logger },
        round: this.#options,
        repeatSeconds: heartbeatIntervalSeconds,
        startedAt: this.#startedAt,
        instances: () => this.#instances(),
        assigned: () => this.#book.ownerOf,
        isListening: () => this.#lateness.isLate,
        whyUnfit: () => this.#whyDeaf(),
        publish: (assignment) => this.#publish(assignment),
        apply: (assignment) => {
          this.#book.note(assignment)
          void this.#coordinator.handleWorkAssignment(assignment)
        },
        planned: (round) => this.#planned(round),
        giveUp: (reason) => this.#stepDown(reason),
      },
      epoch,
    )
    this.#duty.start()
    this.#leaderTask?.begin(epoch)
    this.#heartbeats.announce()
  }

  #follow(): void {
    this.#endDuty()
    void this.#leaderTask?.end('Leadership was lost')
    if (this.#phase === 'running' || this.#phase === 'stopping') this.#emit({ type: 'leadership_lost' })
    this.#heartbeats.announce()
  }

  #endDuty(): void {
    this.#duty?.end()
    this.#duty = null
    this.#unassigned = ''
  }

  #stepDown(reason: string): void {
    const { elector, heartbeatTimeoutSeconds, logger, instanceId } = this.#options
    this.#emit({ type: 'leader_stepped_down', reason })
    logger.error({ instanceId, reason }, 'This leader cannot do its job and steps down')
    this.#leadership.pause(heartbeatTimeoutSeconds)
    void this.#leaderTask?.end(reason)
    elector.release().catch((error: unknown) => logger.warn({ instanceId, error }, 'Could not release leadership; it ends with the lease'))
  }

  #planned({ plan }: PlanRound): void {
    if (plan === null) return
    if (plan.moves.length > 0) this.#emit({ type: 'planned', plan })
    const unassigned = plan.unassigned.map(({ subscription, reason }) => `${subscription}: ${reason}`).join(', ')
    if (unassigned === this.#unassigned) return
    this.#unassigned = unassigned
    if (unassigned !== '') this.#options.logger.error({ instanceId: this.instanceId, unassigned }, 'Subscriptions that nobody can run')
    this.#emit({ type: 'unassigned_changed', unassigned: plan.unassigned })
  }

  #assign({ subscriptions, epoch }: WorkAssignment): void {
    if (this.#phase === 'running') this.#work.assign(subscriptions, epoch ?? null)
  }

  /** A heartbeat of anybody, before the coordinator has it. */
  #hear(heartbeat: HeartbeatMessage): void {
    const { instanceId, subscriptions, isLeader, declined, capacity } = heartbeat
    if (instanceId === this.instanceId) {
      this.#ownHeartbeatAt = this.#options.clock.monotonicSeconds()
      return
    }
    const before = this.#coordinator.getPeer(instanceId)?.lastHeartbeat
    if (before?.isLeader && !isLeader) this.#leadership.hurry()
    this.#report.heardLeader(instanceId, isLeader)
    const isSame = before && isSameList(before.subscriptions, subscriptions) && isSameList(before.declined, declined) && before.capacity === capacity
    // The coordinator has it by the time the timers of this moment run.
    if (!isSame) this.#peersChanged()
  }

  #peersChanged(): void {
    this.#work.hurry()
    this.#duty?.hurry()
  }

  async #check(): Promise<void> {
    this.#checks.ask(this.#options.heartbeatIntervalSeconds / 2)
    // Whoever could not run cannot tell whether others were silent.
    if (!this.#lateness.isLate) await this.#coordinator.checkPeerTimeouts()
    this.#book.keepOnly((instanceId) => instanceId === this.instanceId || this.#coordinator.getPeer(instanceId) !== undefined)
    const change = this.#report.healthChange(this.#facts())
    if (change !== null) this.#emit(change)
  }

  #createHeartbeat(): HeartbeatMessage {
    return this.#coordinator.createHeartbeat({
      subscriptions: this.#work.holding(),
      inFlightCount: this.#sample('inFlightCount', this.#options.inFlightCount),
      loadFactor: this.#sample('loadFactor', this.#options.loadFactor),
      declined: this.#work.declined(),
      capacity: this.#options.capacity,
    })
  }

  /** A sample from the user's code, which may throw. */
  #sample(name: string, read: () => number): number {
    try {
      return read()
    } catch (error) {
      this.#options.logger.warn({ instanceId: this.instanceId, error }, `${name}() failed; 0 is sent instead`)
      return 0
    }
  }

  #publish(message: HeartbeatMessage | WorkAssignment): Promise<void> {
    return this.#binding?.publish(message) ?? Promise.resolve()
  }

  #instances(): InstanceView[] {
    const now = this.#options.clock.monotonicSeconds()
    const self: InstanceView = {
      instanceId: this.instanceId,
      status: this.#phase === 'running' ? 'healthy' : 'draining',
      heardAt: now,
      subscriptions: this.#work.holding(),
      usesClaims: this.#options.ownership !== null,
      capacity: this.#options.capacity,
      declined: new Set(this.#work.declined()),
    }
    const peers = [...this.#coordinator.knownPeers.values()].map(({ instanceId, status, heardAtSeconds, lastHeartbeat, incarnation }): InstanceView => ({
      instanceId,
      status: status === 'unknown' ? 'stale' : status,
      heardAt: heardAtSeconds,
      subscriptions: lastHeartbeat?.subscriptions ?? [],
      usesClaims: this.#options.ownership !== null && incarnation !== null,
      capacity: lastHeartbeat?.capacity,
      declined: new Set(lastHeartbeat?.declined),
    }))
    return [self, ...peers]
  }

  #isListedElsewhere(subscription: string): boolean {
    for (const { status, lastHeartbeat } of this.#coordinator.knownPeers.values()) {
      if ((status === 'healthy' || status === 'draining') && lastHeartbeat?.subscriptions.includes(subscription)) return true
    }
    return false
  }

  /** A transport that never returns own messages tells nothing by their absence. */
  #whyDeaf(): string | null {
    const { clock, heartbeatTimeoutSeconds } = this.#options
    if (this.#ownHeartbeatAt === null || clock.monotonicSeconds() - this.#ownHeartbeatAt <= heartbeatTimeoutSeconds) return null
    return 'This instance does not even hear its own messages'
  }

  #facts() {
    return {
      phase: this.#phase,
      coordinator: this.#coordinator,
      elector: this.#options.elector,
      work: this.#work,
      last: this.#duty?.last ?? null,
      lateBySeconds: this.#lateness.isLate ? this.#lateness.lastDelaySeconds : null,
      publishFailingSince: this.#heartbeats.failingSince,
      renewalFailedSince: this.#leadership.renewalFailedSince,
      whyDeaf: this.#whyDeaf(),
    }
  }

  #emit(event: WorkerEvent): void {
    if (!this.#events.isEmpty) void this.#events.prepare(event)({ instanceId: this.instanceId })
  }
}

function isSameList(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((name, index) => name === other[index])
}
