import type { HeartbeatMessage, WorkAssignment } from '@es/coordination-core'
import type { AssignmentBook } from './assignment-book.js'
import { lastWordSeconds } from './call-limits.js'
import type { InstanceView } from './cluster-view.js'
import { LeaderDuty } from './leader-duty.js'
import { LeaderTask } from './leader-task.js'
import { epochOf, LeadershipLoop } from './leadership-loop.js'
import type { PlanRound } from './plan-round.js'
import { retriedWork } from './retried-work.js'
import type { WorkerEvent } from './worker-event.js'
import type { ParsedWorkerOptions } from './worker-options.js'

/** What a {@link LeaderOffice} is made of. */
export interface LeaderOfficeOptions {
  readonly options: ParsedWorkerOptions
  readonly book: AssignmentBook
  /** Every known instance, this one included. */
  readonly instances: () => readonly InstanceView[]
  readonly isListening: () => boolean
  readonly whyUnfit: () => string | null
  readonly publish: (message: HeartbeatMessage | WorkAssignment) => Promise<void>
  /** Takes this instance's own assignment. */
  readonly apply: (assignment: WorkAssignment) => void
  readonly emit: (event: WorkerEvent) => void
  /** Who leads has changed. */
  readonly changed: () => void
}

/** Leadership in one instance: stands for it, and while it is held does the duty and runs the leader's work. */
export class LeaderOffice {
  readonly #made: LeaderOfficeOptions
  readonly #loop: LeadershipLoop
  readonly #task: LeaderTask | null
  #startedAt = Number.NEGATIVE_INFINITY
  #duty: LeaderDuty | null = null
  #isSteppingDown = false
  #moves = ''
  #unassigned = ''

  constructor(made: LeaderOfficeOptions) {
    this.#made = made
    const { elector, electionIntervalSeconds: intervalSeconds, clock, logger, leaderWork, instanceId } = made.options
    const told = { ...made.options, fields: { instanceId } }
    this.#task = leaderWork === null ? null : new LeaderTask({ ...told, work: retriedWork(leaderWork, told) })
    this.#loop = new LeadershipLoop({ elector, intervalSeconds, clock, logger, gained: () => this.#lead(), lost: () => this.#follow() })
  }

  /** Stands for election, if this instance may lead. */
  start(): void {
    this.#startedAt = this.#made.options.clock.monotonicSeconds()
    if (this.#made.options.mayLead) this.#loop.start()
  }

  /** The present term; `null` on a follower. */
  get duty(): LeaderDuty | null {
    return this.#duty
  }

  get renewalFailedSince(): number | null {
    return this.#loop.renewalFailedSince
  }

  /** Leadership has probably become free. */
  hurry(): void {
    this.#loop.hurry()
  }

  /** For how long the leader's work of a term that is over has been going on, in seconds; 0 when it is not. */
  get workOverdueSeconds(): number {
    return this.#task?.overdueSeconds ?? 0
  }

  /** Takes the duty up again where leadership could not be given up; leaves it to others while the work of an earlier term does not end. */
  check(): void {
    const { drainTimeoutSeconds, heartbeatTimeoutSeconds } = this.#made.options
    if (this.workOverdueSeconds > drainTimeoutSeconds && !this.#isSteppingDown) {
      this.#loop.pause(heartbeatTimeoutSeconds)
      if (this.#loop.isLeading) void this.#stepDown("The leader's work of an earlier term does not end", null)
      return
    }
    if (this.#loop.isLeading && this.#duty === null && !this.#isSteppingDown) this.#lead()
  }

  /** Stands no more. The duty that is held goes on until {@link leave}. */
  retire(): void {
    this.#loop.retire()
  }

  /** Hands leadership over once the leader's work has ended, at `deadline` (monotonic) at the latest. Never rejects. */
  async leave(deadline: number): Promise<void> {
    const { clock, mayLead } = this.#made.options
    this.#loop.retire()
    // Whoever leads next must not begin before it has ended.
    await this.#task?.endWithin(Math.max(deadline - clock.monotonicSeconds(), 0), 'The worker stops')
    if (mayLead) await this.#loop.leave(lastWordSeconds(clock, clock.monotonicSeconds()))
    this.#endDuty()
  }

  #lead(): void {
    const { options, book, instances, isListening, whyUnfit, publish, apply, emit, changed } = this.#made
    const { elector } = options
    const epoch = epochOf(elector)
    this.#endDuty()
    emit({ type: 'leadership_gained', epoch })
    this.#duty = new LeaderDuty(
      {
        ...options,
        round: options,
        repeatSeconds: options.heartbeatIntervalSeconds,
        refreshSeconds: options.heartbeatTimeoutSeconds,
        coldUntil: this.#startedAt + options.coldStartSeconds,
        instances,
        assigned: () => book.ownerOf,
        homes: () => book.homeOf,
        isInOffice: () => elector.isLeader && epochOf(elector) === epoch,
        isListening,
        whyUnfit,
        note: (assignment) => book.note(assignment),
        publish,
        apply,
        planned: (round) => this.#planned(round),
        giveUp: (reason) => void this.#stepDown(reason, options.drainTimeoutSeconds),
      },
      epoch,
    )
    this.#duty.start()
    this.#task?.begin(epoch)
    changed()
  }

  #follow(): void {
    this.#endDuty()
    this.#task?.end('Leadership was lost')
    this.#made.emit({ type: 'leadership_lost' })
    this.#made.changed()
  }

  /** `taskSeconds`: how long the leader's work has to end; `null` when it had its time. */
  async #stepDown(reason: string, taskSeconds: number | null): Promise<void> {
    const { clock, heartbeatTimeoutSeconds, logger, instanceId } = this.#made.options
    this.#isSteppingDown = true
    this.#endDuty()
    this.#made.emit({ type: 'leader_stepped_down', reason })
    logger.error({ instanceId, reason }, 'This leader cannot do its job and steps down')
    if (taskSeconds !== null) await this.#task?.endWithin(taskSeconds, reason)
    this.#loop.pause(heartbeatTimeoutSeconds)
    await this.#loop.release(lastWordSeconds(clock, clock.monotonicSeconds()))
    this.#isSteppingDown = false
  }

  #endDuty(): void {
    this.#duty?.end()
    this.#duty = null
    this.#moves = ''
    this.#unassigned = ''
  }

  /** Tells what is new in a round: rounds are many, and most decide what the one before did. */
  #planned({ plan }: PlanRound): void {
    if (plan === null) return
    const { emit, options } = this.#made
    const moves = plan.moves.map(({ subscription, from, to }) => `${subscription}: ${from} > ${to}`).join()
    if (moves !== this.#moves && moves !== '') emit({ type: 'planned', plan })
    this.#moves = moves
    const unassigned = plan.unassigned.map(({ subscription, reason }) => `${subscription}: ${reason}`).join(', ')
    if (unassigned === this.#unassigned) return
    this.#unassigned = unassigned
    if (unassigned !== '') options.logger.error({ instanceId: options.instanceId, unassigned }, 'Subscriptions that nobody can run')
    emit({ type: 'unassigned_changed', unassigned: plan.unassigned })
  }
}
