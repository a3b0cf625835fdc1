import {
  type AssignmentPlan,
  bindCoordinator,
  boundedCall,
  CoordinationError,
  type CoordinatorBinding,
  EPOCH_FORGOTTEN_AFTER_TIMEOUTS,
  type HeartbeatMessage,
  invalidOption,
  isSameList,
  requireSeconds,
  ShutdownIntent,
  type Unsubscribe,
  type WorkAssignment,
  WorkRedistributionCoordinator,
} from '@es/coordination-core'
import { AssignmentBook } from './assignment-book.js'
import { lastWordSeconds } from './call-limits.js'
import type { InstanceView } from './cluster-view.js'
import { disposeAll } from './dispose-all.js'
import { EventStream } from './event-stream.js'
import { HeartbeatLoop } from './heartbeat-loop.js'
import { namesRunByPeers, viewPeers } from './instance-views.js'
import { LeaderOffice } from './leader-office.js'
import { Paced } from './paced.js'
import { Perception } from './perception.js'
import { onTerminationSignal } from './process-signals.js'
import { Soon } from './soon.js'
import { WorkSet } from './work-set.js'
import type { WorkerEvent } from './worker-event.js'
import { type CoordinatedWorkerOptions, LONGEST_SECONDS, type ParsedWorkerOptions, parseWorkerOptions } from './worker-options.js'
import { type WorkerFacts, WorkerReport } from './worker-report.js'
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
 * without, while no other instance that is heard lists it, and while this instance hears the bus, its own messages included; that does not hold
 * through a partition with several instances on each side.
 *
 * It never throws out of a timer or callback, and nothing of it keeps the process alive after {@link stop}.
 */
export class CoordinatedWorker implements AsyncDisposable {
  readonly instanceId: string
  readonly #options: ParsedWorkerOptions
  readonly #coordinator: WorkRedistributionCoordinator
  readonly #book: AssignmentBook
  readonly #events: EventStream<WorkerEvent>
  readonly #work: WorkSet
  readonly #heartbeats: HeartbeatLoop
  readonly #office: LeaderOffice
  readonly #perception: Perception
  readonly #checks: Soon
  readonly #answers: Paced
  readonly #changes: Paced
  readonly #report: WorkerReport
  readonly #unsubscribes: Unsubscribe[] = []
  #phase: Phase = 'new'
  #binding: CoordinatorBinding | null = null
  #stopped: Promise<StopResult> | null = null

  /** @throws CoordinationError `invalid_options` naming the option, its value and the rule. Nothing is started. */
  constructor(options: CoordinatedWorkerOptions) {
    this.#options = parseWorkerOptions(options)
    const { instanceId, incarnation, elector, heartbeatTimeoutSeconds, heartbeatIntervalSeconds, clock, logger } = this.#options
    this.instanceId = instanceId
    this.#book = new AssignmentBook(clock, EPOCH_FORGOTTEN_AFTER_TIMEOUTS * heartbeatTimeoutSeconds)
    this.#events = new EventStream(logger, instanceId)
    this.#coordinator = new WorkRedistributionCoordinator({
      instanceId,
      incarnation,
      leaderElector: elector,
      heartbeatTimeoutSeconds,
      maxPeers: this.#options.maxPeers,
      onImpersonated: () => this.#answers.ask(),
      clock,
      logger,
    })
    this.#work = new WorkSet({
      options: this.#options,
      lookElsewhere: () => this.#lookElsewhere(),
      isCutOff: () => this.#perception.isCutOff,
      isHeard: () => this.#heartbeats.outage === null,
      emit: (event) => this.#emit(event),
      changed: () => {
        this.#heartbeats.announce()
        this.#office.duty?.hurry()
      },
    })
    this.#heartbeats = new HeartbeatLoop({
      ...{ instanceId, clock, logger },
      intervalSeconds: heartbeatIntervalSeconds,
      publishTimeoutSeconds: heartbeatTimeoutSeconds / 3,
      create: () => this.#createHeartbeat(),
      publish: (heartbeat) => this.#publish(heartbeat),
    })
    this.#perception = new Perception(this.#options, this.#heartbeats)
    this.#office = new LeaderOffice({
      options: this.#options,
      book: this.#book,
      instances: () => this.#instances(),
      isListening: () => this.#perception.cannotJudge,
      whyUnfit: () => this.#perception.whyDeaf,
      publish: (message) => this.#publish(message),
      apply: (assignment) => void this.#coordinator.handleWorkAssignment(assignment),
      emit: (event) => this.#emit(event),
      changed: () => {
        this.#report.heardLeader(instanceId, elector.isLeader)
        this.#heartbeats.announce()
      },
    })
    this.#checks = new Soon(clock, () => {
      this.#check().catch((error: unknown) => logger.error({ instanceId, error }, 'Looking after the peers failed; it is tried again'))
    })
    this.#answers = new Paced(clock, heartbeatIntervalSeconds / 10, () => this.#answer())
    this.#changes = new Paced(clock, CHANGES_PAUSE_SECONDS, () => this.#peersChanged())
    this.#report = new WorkerReport(this.#options)
  }

  /**
   * Takes part: listens, sends the first heartbeat, stands for election. Its work begins when the leader assigns it. Resolves when the first heartbeat is
   * out; one that cannot be sent is reported by {@link health} and sent again, and `start()` resolves within a third of `heartbeatTimeoutSeconds`
   * all the same. Resolves without taking part when {@link stop} was called meanwhile.
   *
   * @throws ConnectionError when the transport cannot be reached. Nothing runs then, and `start()` may be called again.
   * @throws CoordinationError `already_started` when it was started before.
   */
  async start(): Promise<void> {
    if (this.#phase !== 'new') throw new CoordinationError('already_started', `The worker is ${this.#phase}; make a new one to start again`)
    this.#phase = 'starting'
    const { transport, logger, handleSignals, heartbeatIntervalSeconds } = this.#options
    let binding: CoordinatorBinding
    try {
      binding = await bindCoordinator(this.#coordinator, transport, {
        logger,
        onHeartbeat: (heartbeat) => this.#hear(heartbeat),
        onWorkAssignment: (assignment) => this.#noteAssignment(assignment),
      })
    } catch (error) {
      if (!this.#isStarting) return
      this.#phase = 'new'
      throw error
    }
    if (!this.#isStarting) return binding.unbind()
    this.#binding = binding
    this.#phase = 'running'
    this.#report.started()
    this.#coordinator.onWorkAssignment((assignment) => this.#assign(assignment))
    this.#coordinator.onHeartbeat(({ instanceId, isLeader }) => {
      // Whoever has just begun to lead wants to know who is here.
      if (this.#report.heardLeader(instanceId, isLeader)) this.#answers.ask()
      this.#office.duty?.heard()
    })
    this.#coordinator.onPeerStatusChange((change) => {
      this.#emit({ type: 'peer_changed', instanceId: change.instanceId, previous: change.previous, status: change.status })
      // So does whoever is new, or was cut off.
      const wantsAnswer = change.status === 'healthy' && (change.previous === 'unknown' || change.previous === 'stale')
      if (change.restarted || wantsAnswer) this.#answers.ask()
      this.#changes.ask()
    })
    this.#unsubscribes.push(
      transport.onResync(() => {
        this.#perception.missed()
        this.#heartbeats.announce()
      }),
    )
    if (handleSignals) this.#unsubscribes.push(onTerminationSignal(() => void this.stop()))
    this.#perception.start()
    this.#checks.ask(heartbeatIntervalSeconds)
    await this.#heartbeats.start()
    if (this.#phase !== 'running') return
    this.#emit({ type: 'started' })
    this.#office.start()
  }

  /**
   * Leaves, once for however many calls: announces it with `intent` and deadline, hands leadership over (after the leader's work has ended), takes no
   * new work, tells every run to end and lets go of each subscription as its run has ended, sends a last heartbeat. Runs that have not ended
   * at the deadline are abandoned and named. Resolves when the instance has left, a few seconds after the deadline even if every adapter hangs; closes
   * what `dispose` lists.
   *
   * @throws CoordinationError `invalid_options` for an option that is off; nothing has changed then. Never rejects otherwise.
   */
  stop({
    intent = ShutdownIntent.Graceful,
    drainTimeoutSeconds = this.#options.drainTimeoutSeconds,
  }: StopOptions = {}): Promise<StopResult> {
    if (this.#stopped !== null) return this.#stopped
    try {
      if (!INTENTS.includes(intent)) throw invalidOption('intent', intent, `one of ${INTENTS.join(', ')}`)
      requireSeconds('drainTimeoutSeconds', drainTimeoutSeconds, { atLeast: 0, atMost: LONGEST_SECONDS })
    } catch (error) {
      return Promise.reject(error)
    }
    this.#stopped = this.#leave(intent, drainTimeoutSeconds)
    return this.#stopped
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
  }

  /**
   * Registers `listener` for all events from now on. They come in the order in which they happened, a moment later, so that a listener may call
   * anything; nobody waits for it, and one that fails is logged.
   */
  onEvent(listener: (event: WorkerEvent) => Promise<void> | void): Unsubscribe {
    return this.#events.listen(listener)
  }

  /** Everything about the worker at this moment, as plain data. Costs O(peers). */
  status(): WorkerStatus {
    return this.#report.status(this.#facts())
  }

  /** For readiness and liveness probes: `isReady`, `isLive`, and what is wrong. */
  health(): WorkerHealth {
    return this.#report.health(this.#facts())
  }

  /**
   * What the leader would decide now, with the reason of each move: a dry run that changes nothing. `null` on a follower, and while a new leader
   * listens.
   *
   * @throws what a planner of your own throws.
   */
  plan(): AssignmentPlan | null {
    return this.#office.duty?.preview() ?? null
  }

  async #leave(intent: ShutdownIntent, drainTimeoutSeconds: number): Promise<StopResult> {
    const wasRunning = this.#phase === 'running'
    this.#phase = 'stopping'
    const { clock } = this.#options
    let abandoned: readonly string[] = []
    if (wasRunning) {
      this.#emit({ type: 'stopping', intent, drainTimeoutSeconds })
      const deadline = clock.monotonicSeconds() + drainTimeoutSeconds
      this.#office.retire()
      const goodbye = this.#sayGoodbye(intent, drainTimeoutSeconds)
      const drained = this.#work.drain(deadline)
      await goodbye
      await this.#office.leave(deadline)
      abandoned = await drained
      this.#checks.stop()
      this.#answers.stop()
      this.#changes.stop()
      this.#perception.stop()
      await this.#heartbeats.stop(lastWordSeconds(clock, clock.monotonicSeconds()))
    }
    this.#binding?.unbind()
    for (const unsubscribe of this.#unsubscribes.splice(0)) unsubscribe()
    await disposeAll(this.#options.dispose, this.#options)
    this.#emit({ type: 'stopped', abandoned })
    this.#phase = 'stopped'
    return { abandoned }
  }

  async #sayGoodbye(intent: ShutdownIntent, drainTimeoutSeconds: number): Promise<void> {
    const { logger, instanceId, clock } = this.#options
    try {
      const notification = this.#coordinator.createShutdownNotification({
        intent,
        subscriptions: this.#work.holding(),
        inFlightCount: this.#options.inFlightCount(),
        drainTimeoutSeconds,
      })
      const limit = { clock, what: 'Announcing the departure', timeoutSeconds: lastWordSeconds(clock, clock.monotonicSeconds()) }
      await boundedCall(limit, () => this.#publish(notification))
    } catch (error) {
      logger.warn({ instanceId, error }, 'Could not announce the departure; the others notice it by silence')
    }
  }

  // Asked anew each time, because the phase can change while start() waits.
  get #isStarting(): boolean {
    return this.#phase === 'starting'
  }

  #assign({ subscriptions, epoch }: WorkAssignment): void {
    if (this.#phase === 'running') this.#work.assign(subscriptions, epoch ?? null)
  }

  /** A heartbeat of anybody, before the coordinator has it. */
  #hear(heartbeat: HeartbeatMessage): void {
    const { instanceId, subscriptions, isLeader, declined, capacity } = heartbeat
    if (instanceId === this.instanceId) {
      if (this.#coordinator.isOwnIncarnation(heartbeat.incarnation)) this.#perception.heardSelf()
      return
    }
    const before = this.#coordinator.getPeer(instanceId)?.lastHeartbeat
    if (before?.isLeader && !isLeader) this.#office.hurry()
    const isSame =
      before && isSameList(before.subscriptions, subscriptions) && isSameList(before.declined, declined) && before.capacity === capacity
    // The coordinator has it by the time the timers of this moment run.
    if (!isSame) this.#changes.ask()
  }

  /** Keeps what an assignment says of instances and subscriptions that there are: anybody may have sent it. */
  #noteAssignment({ targetInstanceId, epoch, revision, subscriptions }: WorkAssignment): void {
    if (targetInstanceId !== this.instanceId && this.#coordinator.getPeer(targetInstanceId) === undefined) return
    const known = subscriptions.filter((name) => this.#work.knows(name))
    this.#book.note({ targetInstanceId, epoch, revision, subscriptions: known })
  }

  /** Says what this instance runs: soon, but a large cluster must not answer in one breath. */
  #answer(): void {
    this.#heartbeats.announce(this.#options.random() * Math.min(1, this.#coordinator.healthyPeerCount / 100))
  }

  #peersChanged(): void {
    this.#work.hurry()
    this.#office.duty?.hurry()
  }

  async #check(): Promise<void> {
    this.#checks.ask(Math.min(this.#options.heartbeatIntervalSeconds / 2, this.#perception.cutOffInSeconds))
    if (this.#perception.isCutOff) this.#work.hurry()
    if (!this.#perception.cannotJudge) await this.#coordinator.checkPeerTimeouts()
    this.#book.keepOnly((instanceId) => instanceId === this.instanceId || this.#coordinator.getPeer(instanceId) !== undefined)
    this.#office.check()
    const change = this.#report.healthChange(this.#facts())
    if (change !== null) this.#emit(change)
  }

  #createHeartbeat(): HeartbeatMessage {
    return this.#coordinator.createHeartbeat({
      subscriptions: this.#work.holding(),
      inFlightCount: this.#options.inFlightCount(),
      loadFactor: this.#options.loadFactor(),
      declined: this.#work.declined(),
      capacity: this.#work.capacity,
    })
  }

  async #publish(message: Parameters<CoordinatorBinding['publish']>[0]): Promise<void> {
    await this.#binding?.publish(message)
  }

  #instances(): InstanceView[] {
    const { clock, ownership } = this.#options
    const self: InstanceView = {
      instanceId: this.instanceId,
      status: this.#phase === 'running' ? 'healthy' : 'draining',
      heardAt: clock.monotonicSeconds(),
      subscriptions: this.#work.holding(),
      usesClaims: ownership !== null,
      capacity: this.#work.capacity,
      declined: new Set(this.#work.declined()),
    }
    return [self, ...viewPeers(this.#coordinator, this.#options)]
  }

  #lookElsewhere(): (subscription: string) => boolean {
    const hasOwnership = this.#options.ownership !== null
    // Without claims, words are all there is.
    if (!hasOwnership && this.#perception.mayStartNothing) return () => true
    const names = namesRunByPeers(this.#coordinator, this.#options)
    return (subscription) => names.has(subscription)
  }

  #facts(): WorkerFacts {
    return {
      phase: this.#phase,
      coordinator: this.#coordinator,
      elector: this.#options.elector,
      work: this.#work,
      last: this.#office.duty?.last ?? null,
      unowned: this.#office.duty?.unowned ?? new Map(),
      workOverdueSeconds: this.#office.workOverdueSeconds,
      lateBySeconds: this.#perception.lateBySeconds,
      publishOutage: this.#heartbeats.outage,
      renewalFailedSince: this.#office.renewalFailedSince,
      whyDeaf: this.#perception.whyDeaf,
    }
  }

  #emit(event: WorkerEvent): void {
    if (this.#phase !== 'stopped') this.#events.emit(event)
  }
}

// A change of a peer costs a look at everything.
const CHANGES_PAUSE_SECONDS = 0.02

const INTENTS: readonly unknown[] = Object.values(ShutdownIntent)
