import { AssignmentOrder, EPOCH_FORGOTTEN_AFTER_TIMEOUTS } from './assignment-order.js'
import { type Callback, CallbackList } from './callback-list.js'
import type { Clock } from './clock.js'
import { parseCoordinatorOptions, type WorkRedistributionCoordinatorOptions } from './coordinator-options.js'
import { DoubleWatch } from './double-watch.js'
import type { HeartbeatMessage } from './heartbeat-message.js'
import type { LeaderElector } from './leader-elector.js'
import { limitedLogger } from './limited-logger.js'
import type { Logger } from './logger.js'
import { OnceLog } from './once-log.js'
import { type CreateHeartbeatOptions, type CreateShutdownNotificationOptions, OwnMessages } from './own-messages.js'
import type { PeerInfo, PeerStatusChange } from './peer-info.js'
import { PeerTable, type Receipt } from './peer-table.js'
import type { ShutdownNotification } from './shutdown-notification.js'
import type { WorkAssignment } from './work-assignment.js'

/** Told of each accepted heartbeat of a peer. */
export type HeartbeatCallback = Callback<[heartbeat: HeartbeatMessage]>
/** Told of each accepted shutdown notification of a peer. */
export type PeerShutdownCallback = Callback<[notification: ShutdownNotification]>
/** Told the id of a peer once for each outage. */
export type PeerTimeoutCallback = Callback<[instanceId: string]>
/** Told of each accepted assignment to this instance, repeats included. */
export type WorkAssignmentCallback = Callback<[assignment: WorkAssignment]>
/** Told of each change of a peer's status. */
export type PeerStatusChangeCallback = Callback<[change: PeerStatusChange]>

const LOGGED_IDS = 10
const LOG_LINES_PER_MINUTE = 20

/**
 * Makes and interprets the three coordination messages, keeps track of the peers, and calls back when something changes. It has no timers
 * and no network: publish what it makes, pass it what arrives, and call {@link checkPeerTimeouts} on an interval.
 *
 * Differs from the reference where that had faults:
 *
 * - Liveness counts from the arrival of a message on this process's monotonic clock. No clock of a peer is ever compared with a clock of
 *   this machine.
 * - Status, counts, orphans and timeouts all use `heartbeatTimeoutSeconds`, and all answers of one instant agree.
 * - Callbacks for a timeout run once for each outage; {@link onPeerStatusChange} tells of the recovery, and of everything else.
 * - A goodbye is final for that life of the instance. A new incarnation clears it; from a peer that sends none, a heartbeat stamped
 *   after the announced end does.
 * - Older messages never replace newer ones, and those of a replaced incarnation are dropped.
 * - A lost subscription that somebody lists is no orphan any more.
 * - Peers that are gone are forgotten once their work is settled.
 *
 * State changes at once, before any callback. The callbacks of one call run one at a time, in registration order; one that throws is
 * logged and the next one runs. Handlers that are not awaited by the caller may overlap in their callbacks, never in their state.
 */
export class WorkRedistributionCoordinator {
  /** Names this instance; messages that bear it are its own. */
  readonly instanceId: string
  /** Silence after which a peer is stale, in seconds. */
  readonly heartbeatTimeoutSeconds: number
  readonly #elector: LeaderElector | undefined
  readonly #clock: Clock
  readonly #logger: Logger
  readonly #onceLog: OnceLog
  readonly #ownMessages: OwnMessages
  readonly #table: PeerTable
  readonly #assignments: AssignmentOrder
  readonly #heartbeatCallbacks: CallbackList<[HeartbeatMessage]>
  readonly #shutdownCallbacks: CallbackList<[ShutdownNotification]>
  readonly #timeoutCallbacks: CallbackList<[string]>
  readonly #assignmentCallbacks: CallbackList<[WorkAssignment]>
  readonly #statusCallbacks: CallbackList<[PeerStatusChange]>
  readonly #onImpersonated: () => void
  readonly #double = new DoubleWatch()
  #shutdownNotification: ShutdownNotification | null = null

  /** @throws CoordinationError `invalid_options` naming the option, its value and the rule. */
  constructor(options: WorkRedistributionCoordinatorOptions) {
    const parsed = parseCoordinatorOptions(options)
    this.instanceId = parsed.instanceId
    this.heartbeatTimeoutSeconds = parsed.heartbeatTimeoutSeconds
    this.#elector = parsed.leaderElector
    this.#clock = parsed.clock
    this.#assignments = new AssignmentOrder(EPOCH_FORGOTTEN_AFTER_TIMEOUTS * parsed.heartbeatTimeoutSeconds)
    // Anybody on the bus can make most of its lines happen.
    this.#logger = limitedLogger({ ...parsed, linesPerMinute: LOG_LINES_PER_MINUTE })
    this.#onceLog = new OnceLog(this.#logger)
    this.#onImpersonated = parsed.onImpersonated
    this.#ownMessages = new OwnMessages({ ...parsed, log: this.#onceLog })
    this.#table = new PeerTable(parsed)
    this.#heartbeatCallbacks = new CallbackList('heartbeat', this.#logger)
    this.#shutdownCallbacks = new CallbackList('peer-shutdown', this.#logger)
    this.#timeoutCallbacks = new CallbackList('peer-timeout', this.#logger)
    this.#assignmentCallbacks = new CallbackList('work-assignment', this.#logger)
    this.#statusCallbacks = new CallbackList('peer-status-change', this.#logger)
  }

  /**
   * Names this run of the instance in its next message; `undefined` when its messages carry none. It is continued, such as `i~1` after `i`, when
   * somebody spoke in this instance's name, since its peers would go on believing them.
   */
  get incarnation(): string | undefined {
    return this.#ownMessages.incarnation
  }

  /** Whether `incarnation` is one that this run of the instance goes or went by. */
  isOwnIncarnation(incarnation: string | undefined): boolean {
    return this.#ownMessages.isOwn(incarnation)
  }

  /** Whether {@link createShutdownNotification} was called. */
  get isShuttingDown(): boolean {
    return this.#shutdownNotification !== null
  }

  /** This instance's own latest goodbye, `null` while it stays. */
  get shutdownNotification(): ShutdownNotification | null {
    return this.#shutdownNotification
  }

  /**
   * Every peer in the table as of now, in the order in which they were first heard: a copy. Costs O(peers); for one peer see
   * {@link getPeer}.
   */
  get knownPeers(): ReadonlyMap<string, PeerInfo> {
    this.#advance()
    return this.#table.all()
  }

  /** How many peers are healthy now. O(1). */
  get healthyPeerCount(): number {
    this.#advance()
    return this.#table.healthyCount
  }

  /** The peers that said goodbye and whose drain window is open. */
  get drainingPeers(): readonly PeerInfo[] {
    this.#advance()
    return this.#table.draining()
  }

  /**
   * The epoch of the assignment that was accepted last, whoever it was for; `null` before the first. It falls only once nothing was heard of a higher one for
   * three heartbeat timeouts.
   */
  get highestEpoch(): bigint | null {
    return this.#assignments.highestEpoch
  }

  /** One peer as of now; `undefined` when it is not in the table. O(1). */
  getPeer(instanceId: string): PeerInfo | undefined {
    this.#advance()
    return this.#table.get(instanceId)
  }

  /**
   * Subscriptions that draining, terminated or stale peers left and that neither a healthy peer nor this instance lists, by the peer
   * that left them; each subscription once. As soon as somebody listed one, that loss is settled for good: if the new owner goes too, it
   * is the new owner's. A stale peer that recovers takes its work back.
   */
  getOrphanedSubscriptions(): ReadonlyMap<string, readonly string[]> {
    this.#advance()
    return this.#table.orphans()
  }

  /**
   * A heartbeat of this instance as of now; publish it. What it lists counts as claimed from here on (see
   * {@link getOrphanedSubscriptions}). A load or count that is no proper number is put right and reported once for each kind of fault: a
   * bad sample must not make a live instance look dead.
   *
   * @throws InvalidMessageError when a subscription name is off.
   */
  createHeartbeat(options: CreateHeartbeatOptions): HeartbeatMessage {
    const heartbeat = this.#ownMessages.heartbeat(options)
    this.#table.listOwn(heartbeat.subscriptions)
    return heartbeat
  }

  /**
   * The goodbye of this instance, which is shutting down from here on; publish it. Called again, it makes a newer one.
   *
   * @throws InvalidMessageError when a subscription name, the intent or the metadata is off.
   * @throws CoordinationError `invalid_options` when `drainTimeoutSeconds` is negative or not finite.
   */
  createShutdownNotification(options: CreateShutdownNotificationOptions): ShutdownNotification {
    const notification = this.#ownMessages.shutdownNotification(options)
    this.#shutdownNotification = notification
    this.#logger.info({ instanceId: this.instanceId, intent: notification.intent }, 'This instance is shutting down')
    return notification
  }

  /**
   * Takes a heartbeat that arrived now. `false`, and no callback, when it is this instance's own, late, repeated, of a replaced life, or
   * finds the table full. One from a draining peer is accepted and keeps it draining.
   */
  async handleHeartbeat(heartbeat: HeartbeatMessage): Promise<boolean> {
    const { instanceId } = heartbeat
    if (instanceId === this.instanceId) {
      this.#lookForDouble(heartbeat)
      if (heartbeat.incarnation === this.incarnation && this.#ownMessages.isForeign(heartbeat.sequence)) this.#contradict()
      return false
    }
    if (!this.#isTaken(this.#table.heartbeat(heartbeat, this.#clock.monotonicSeconds()), instanceId)) return false
    const change = this.#table.takeChange(instanceId)
    if (change) await this.#report(change)
    if (!this.#heartbeatCallbacks.isEmpty) await this.#heartbeatCallbacks.prepare(heartbeat)(this.#context(instanceId))
    return true
  }

  /** Takes a peer's goodbye that arrived now. `false`, and no callback, in the same cases as {@link handleHeartbeat}. */
  async handlePeerShutdown(notification: ShutdownNotification): Promise<boolean> {
    const { instanceId } = notification
    if (instanceId === this.instanceId) {
      // Whoever's it is: this instance is still here.
      if (!this.isShuttingDown) this.#contradict()
      return false
    }
    if (!this.#isTaken(this.#table.goodbye(notification, this.#clock.monotonicSeconds()), instanceId)) return false
    this.#logger.info({ ...this.#context(instanceId), intent: notification.intent }, 'A peer is shutting down')
    const change = this.#table.takeChange(instanceId)
    if (change) await this.#report(change)
    if (!this.#shutdownCallbacks.isEmpty) await this.#shutdownCallbacks.prepare(notification)(this.#context(instanceId))
    return true
  }

  /**
   * Takes an assignment that arrived now. `false`, and no callback, when it is for another instance, of a lower epoch than the highest
   * seen, or of the same epoch and a lower revision. An epoch of which
   * nothing was heard for three heartbeat timeouts does not count any more. The same assignment again is accepted and its callbacks run again, so that an
   * instance which failed to act on it has another chance: make them idempotent.
   */
  async handleWorkAssignment(assignment: WorkAssignment): Promise<boolean> {
    this.#lookForUsurper(assignment)
    const isForUs = assignment.targetInstanceId === this.instanceId
    const isValid = this.#assignments.accept(assignment, isForUs, this.#clock.monotonicSeconds())
    if (!isForUs) return false
    if (!isValid) {
      const { epoch, revision } = assignment
      this.#logger.info({ instanceId: this.instanceId, epoch, revision, highestEpoch: this.highestEpoch }, 'Refused a late work assignment')
      return false
    }
    if (!this.#assignmentCallbacks.isEmpty) {
      await this.#assignmentCallbacks.prepare(assignment)({ instanceId: this.instanceId, sourceInstanceId: assignment.sourceInstanceId })
    }
    return true
  }

  /**
   * Every peer that is timed out now, those reported before included. Timeout callbacks run once for each outage, and status callbacks
   * for every change that only time has made; then gone peers whose time has come are forgotten. Peers that said goodbye do not time
   * out: they drain and terminate. Call it on an interval, such as the heartbeat interval. Costs what has expired.
   */
  async checkPeerTimeouts(): Promise<string[]> {
    this.#advance()
    const timedOut = this.#table.staleIds()
    const news = this.#table.newlyStaleIds()
    if (news.length > 0) {
      const fields = {
        instanceId: this.instanceId,
        count: news.length,
        peerIds: news.slice(0, LOGGED_IDS),
        timeoutSeconds: this.heartbeatTimeoutSeconds,
      }
      this.#logger.warn(fields, 'Peers have timed out')
    }
    // A peer that recovers while the callbacks for another one run has not timed out any more: changes are taken one at a time.
    for (const change of this.#table.takeChanges()) {
      const { instanceId, status } = change
      if (status === 'stale' && !this.#timeoutCallbacks.isEmpty) await this.#timeoutCallbacks.prepare(instanceId)(this.#context(instanceId))
      await this.#report(change)
    }
    for (const change of this.#table.forget(this.#clock.monotonicSeconds())) await this.#report(change)
    return timedOut
  }

  /**
   * Forgets a peer and what it left unclaimed. Its old messages do not bring it back while `peerRetentionSeconds` last; a newer one or a
   * new life does. No callback runs. `false` when it is not known.
   */
  removePeer(instanceId: string): boolean {
    return this.#table.remove(instanceId, this.#clock.monotonicSeconds())
  }

  /**
   * Gives leadership up before leaving. `true` only if there is an elector and this instance led.
   *
   * @throws ConnectionError when the elector's backend could not be told.
   */
  async initiateLeadershipHandoff(): Promise<boolean> {
    if (this.#elector?.isLeader !== true) return false
    await this.#elector.release()
    return true
  }

  /** Registers `callback` for heartbeats of peers. */
  onHeartbeat(callback: HeartbeatCallback): void {
    this.#heartbeatCallbacks.add(callback)
  }

  /** Removes one registration; `false` when there is none. */
  removeHeartbeatCallback(callback: HeartbeatCallback): boolean {
    return this.#heartbeatCallbacks.remove(callback)
  }

  /** Registers `callback` for goodbyes of peers. */
  onPeerShutdown(callback: PeerShutdownCallback): void {
    this.#shutdownCallbacks.add(callback)
  }

  /** Removes one registration; `false` when there is none. */
  removePeerShutdownCallback(callback: PeerShutdownCallback): boolean {
    return this.#shutdownCallbacks.remove(callback)
  }

  /** Registers `callback` for timeouts of peers, see {@link checkPeerTimeouts}. */
  onPeerTimeout(callback: PeerTimeoutCallback): void {
    this.#timeoutCallbacks.add(callback)
  }

  /** Removes one registration; `false` when there is none. */
  removePeerTimeoutCallback(callback: PeerTimeoutCallback): boolean {
    return this.#timeoutCallbacks.remove(callback)
  }

  /** Registers `callback` for assignments to this instance. */
  onWorkAssignment(callback: WorkAssignmentCallback): void {
    this.#assignmentCallbacks.add(callback)
  }

  /** Removes one registration; `false` when there is none. */
  removeWorkAssignmentCallback(callback: WorkAssignmentCallback): boolean {
    return this.#assignmentCallbacks.remove(callback)
  }

  /**
   * Registers `callback` for changes of a peer's status: it came, recovered, fell silent, drains, terminated, was forgotten, or
   * restarted. Changes that a message makes are told by its handler, those that time makes by {@link checkPeerTimeouts}; a spell that
   * began and ended between two checks goes untold. The `previous` of a change is always the `status` of the one told before.
   */
  onPeerStatusChange(callback: PeerStatusChangeCallback): void {
    this.#statusCallbacks.add(callback)
  }

  /** Removes one registration; `false` when there is none. */
  removePeerStatusChangeCallback(callback: PeerStatusChangeCallback): boolean {
    return this.#statusCallbacks.remove(callback)
  }

  #advance(): void {
    this.#table.advance(this.#clock.monotonicSeconds())
  }

  #context(peerId: string): { readonly instanceId: string; readonly peerId: string } {
    return { instanceId: this.instanceId, peerId }
  }

  #report(change: PeerStatusChange): Promise<void> | undefined {
    return this.#statusCallbacks.isEmpty ? undefined : this.#statusCallbacks.prepare(change)(this.#context(change.instanceId))
  }

  #isTaken(receipt: Receipt, peerId: string): boolean {
    switch (receipt) {
      case 'newer':
        this.#noticeEvictions()
        return true
      case 'successor':
        this.#logger.info(this.#context(peerId), 'A new life of a peer has begun')
        return true
      case 'rival':
        this.#logger.warn(this.#context(peerId), 'Two processes use the instance id of this peer; give each its own')
        return false
      case 'full':
        this.#onceLog.warn('full', this.#context(peerId), 'The peer table is full of live peers: new ones are ignored')
        return false
      default:
        return false
    }
  }

  #noticeEvictions(): void {
    if (this.#table.evictedCount > 0) {
      this.#onceLog.warn(
        'evicted',
        { instanceId: this.instanceId },
        'The peer table is full: the peers gone longest make room, with what they left unclaimed, and then the newest',
      )
    }
  }

  /** Rule O1. */
  #contradict(): void {
    if (!this.#ownMessages.contradict()) return
    const fields = { instanceId: this.instanceId, incarnation: this.incarnation }
    this.#logger.warn(fields, 'Somebody speaks in the name of this instance; it contradicts under a new incarnation')
    this.#onImpersonated()
  }

  /** While this instance leads, nobody has a later term. */
  #lookForUsurper({ epoch, sourceInstanceId, targetInstanceId }: WorkAssignment): void {
    const term = termOf(this.#elector)
    if (term === null || epoch === undefined || epoch <= term) return
    this.#logger.warn(
      { instanceId: this.instanceId, sourceInstanceId, targetInstanceId, epoch, term },
      'Heard an assignment of a later term than that in which this instance leads: either it will hear in a moment that it leads no more, or somebody forges assignments',
    )
  }

  #lookForDouble({ incarnation, sequence }: HeartbeatMessage): void {
    if (this.incarnation === undefined || incarnation === undefined || this.isOwnIncarnation(incarnation)) return
    if (!this.#double.sees(incarnation, sequence)) return
    this.#onceLog.warn('double', { instanceId: this.instanceId }, 'Another process uses the instance id of this one; give each its own')
  }
}

/** The fencing token under which `elector` leads; `null` when it does not lead, or has none. */
function termOf(elector: LeaderElector | undefined): bigint | null {
  const token = elector?.isLeader === true && 'fencingToken' in elector ? elector.fencingToken : null
  return typeof token === 'bigint' ? token : null
}
