import type { LogFields, Logger } from '@es/coordination-core'
import {
  InMemoryLeaderElector,
  InMemoryOwnership,
  InMemoryTransport,
  SharedBus,
  SharedClaims,
  SharedLeaderState,
} from '@es/coordination-memory'
import { ManualClock } from '@es/coordination-testing'
import { CoordinatedWorker } from './coordinated-worker.js'
import { GatedElector, GatedOwnership, GatedTransport, ProcessGate } from './process-gate.test.harness.js'
import { type Behaviour, RunRecorder } from './run-recorder.test.harness.js'
import type { WorkerEvent } from './worker-event.js'
import type { CoordinatedWorkerOptions } from './worker-options.js'

/** What a member may be given. */
export type MemberOptions = Partial<Omit<CoordinatedWorkerOptions, 'run'>> & { readonly run?: Behaviour }

/** One life of one instance. */
export class Member {
  readonly id: string
  readonly gate: ProcessGate
  readonly worker: CoordinatedWorker
  readonly elector: GatedElector
  readonly transport: GatedTransport
  readonly ownership: GatedOwnership | null
  readonly events: (WorkerEvent & { readonly at: number })[] = []

  constructor(cluster: Cluster, id: string, options: MemberOptions) {
    this.id = id
    const { clock, bus, logger } = cluster
    this.gate = new ProcessGate(clock)
    this.elector = new GatedElector(this.gate, new InMemoryLeaderElector(id, { sharedState: cluster.election, logger }))
    this.transport = new GatedTransport(this.gate, new InMemoryTransport({ bus, name: id, logger }))
    this.ownership = cluster.hasOwnership ? new GatedOwnership(this.gate, new InMemoryOwnership(id, { claims: cluster.claims }), {}) : null
    const { run = cluster.run, ...rest } = { ...cluster.defaults, ...options }
    const recorded = cluster.recorder.record(this, run)
    this.worker = new CoordinatedWorker({
      instanceId: id,
      subscriptions: cluster.subscriptions,
      elector: this.elector,
      transport: this.transport,
      ...(this.ownership && { ownership: this.ownership }),
      clock: this.gate,
      logger,
      random: cluster.random,
      incarnation: `${id}/${cluster.nextLife()}`,
      ...rest,
      run: recorded,
    })
    this.worker.onEvent((event) => {
      this.events.push({ ...event, at: clock.monotonicSeconds() })
      if (event.type === 'run_abandoned') cluster.recorder.abandoned(this, event.subscription)
    })
  }

  /** The events of one type so far. */
  eventsOf<T extends WorkerEvent['type']>(type: T): (Extract<WorkerEvent, { type: T }> & { readonly at: number })[] {
    return this.events.filter((event) => event.type === type) as (Extract<WorkerEvent, { type: T }> & { readonly at: number })[]
  }

  /** What it runs now. */
  get running(): string[] {
    return this.worker
      .status()
      .work.filter(({ phase }) => phase === 'running')
      .map(({ subscription }) => subscription)
      .sort()
  }
}

/** How a {@link Cluster} is set up. */
export interface ClusterOptions {
  /** How many, or which. @default 12 */
  readonly subscriptions?: number | readonly string[]
  /** @default true */
  readonly hasOwnership?: boolean
  /** @default 1 */
  readonly seed?: number
  /** For every worker. */
  readonly defaults?: Partial<CoordinatedWorkerOptions>
  /** What every worker runs, unless it says otherwise. @default until it is told to stop */
  readonly run?: Behaviour
  /** How long after a crash or in a pause the backend keeps what an instance held, in seconds. @default 0 */
  readonly leaseSeconds?: number
}

/**
 * A whole cluster in one process, in virtual time. Every run is recorded, and checked against what must always hold (see RunRecorder): call
 * {@link verify} at the end.
 */
export class Cluster {
  readonly clock = new ManualClock()
  readonly bus = new SharedBus({ clock: this.clock })
  readonly claims = new SharedClaims()
  readonly election = new SharedLeaderState()
  readonly members = new Map<string, Member>()
  readonly lives: Member[] = []
  readonly log: { readonly level: keyof Logger; readonly fields: LogFields; readonly message: string }[] = []
  readonly logger: Logger = {
    debug: (fields, message) => void this.log.push({ level: 'debug', fields, message }),
    info: (fields, message) => void this.log.push({ level: 'info', fields, message }),
    warn: (fields, message) => void this.log.push({ level: 'warn', fields, message }),
    error: (fields, message) => void this.log.push({ level: 'error', fields, message }),
  }
  readonly recorder: RunRecorder
  readonly subscriptions: readonly string[]
  readonly hasOwnership: boolean
  readonly defaults: Partial<CoordinatedWorkerOptions>
  readonly run: Behaviour
  readonly leaseSeconds: number
  readonly random: () => number
  #lives = 0

  constructor({
    subscriptions = 12,
    hasOwnership = true,
    seed = 1,
    defaults = {},
    run = untilTold,
    leaseSeconds = 0,
  }: ClusterOptions = {}) {
    this.subscriptions = typeof subscriptions === 'number' ? names(subscriptions) : subscriptions
    this.hasOwnership = hasOwnership
    this.defaults = defaults
    this.run = run
    this.leaseSeconds = leaseSeconds
    this.random = seededRandom(seed)
    this.recorder = new RunRecorder(this.clock, hasOwnership)
    this.bus.faults = { delaySeconds: () => BUS_SECONDS }
  }

  nextLife(): number {
    return ++this.#lives
  }

  add(id: string, options: MemberOptions = {}): Member {
    const member = new Member(this, id, options)
    this.members.set(id, member)
    this.lives.push(member)
    return member
  }

  async start(id: string, options: MemberOptions = {}): Promise<Member> {
    const member = this.add(id, options)
    void member.worker.start()
    await this.pass(0)
    return member
  }

  /** Lets time pass. */
  async pass(seconds: number): Promise<void> {
    await this.clock.advance(seconds)
  }

  /** Lets time pass until `condition` holds, looking every `stepSeconds`. Returns how long that took. */
  async until(condition: () => boolean, { withinSeconds = 120, stepSeconds = 0.05 } = {}): Promise<number> {
    const start = this.clock.monotonicSeconds()
    while (!condition()) {
      if (this.clock.monotonicSeconds() - start > withinSeconds) throw new Error(`Not within ${withinSeconds} s\n${this.describe()}`)
      await this.pass(stepSeconds)
    }
    return this.clock.monotonicSeconds() - start
  }

  member(id: string): Member {
    const member = this.members.get(id)
    if (member === undefined) throw new Error(`There is no ${id}`)
    return member
  }

  /** Stops gracefully, while time passes. */
  async stop(
    id: string,
    options?: Parameters<CoordinatedWorker['stop']>[0],
  ): Promise<{ readonly abandoned: readonly string[]; readonly seconds: number }> {
    const { worker } = this.member(id)
    const start = this.clock.monotonicSeconds()
    let result: { readonly abandoned: readonly string[] } | undefined
    void worker.stop(options).then((value) => {
      result = value
    })
    await this.pass(0)
    await this.until(() => result !== undefined, { stepSeconds: 0.01 })
    this.members.delete(id)
    return { abandoned: result?.abandoned ?? [], seconds: this.clock.monotonicSeconds() - start }
  }

  /** The process is gone at once; the backend notices after the lease. */
  crash(id: string): Member {
    const member = this.member(id)
    member.gate.kill()
    this.recorder.died(member)
    this.members.delete(id)
    member.transport.inner.disconnect()
    this.#afterLease(() => this.#endSession(member))
    return member
  }

  /** SIGSTOP: nothing runs in it; the backend ends its session after the lease. */
  pause(id: string): Member {
    const member = this.member(id)
    member.gate.isPaused = true
    const endsAt = this.clock.monotonicSeconds() + this.leaseSeconds
    this.#afterLease(() => {
      if (!member.gate.isPaused || this.clock.monotonicSeconds() < endsAt) return
      void member.elector.inner.forceLoseLeadership()
      member.ownership?.inner.forceLose()
    })
    return member
  }

  resume(id: string): void {
    this.member(id).gate.resume()
  }

  /** Owners of each subscription that runs now. */
  get owners(): Map<string, string> {
    return this.recorder.owners
  }

  /** How many each living member runs, in the order of their ids. */
  get counts(): number[] {
    const owners = [...this.owners.values()]
    return [...this.members.keys()].sort().map((id) => owners.filter((owner) => owner === id).length)
  }

  get isComplete(): boolean {
    const { owners, members } = this
    return this.subscriptions.every((name) => members.has(owners.get(name) ?? ''))
  }

  get isBalanced(): boolean {
    return this.isComplete && Math.max(...this.counts) - Math.min(...this.counts) <= 1
  }

  get leader(): Member | undefined {
    return [...this.members.values()].find(({ elector }) => elector.isLeader)
  }

  /** Stops everybody, and checks what must always hold: call it at the end of every test. */
  async verify(): Promise<void> {
    for (const member of this.members.values()) if (member.gate.isPaused) member.gate.resume()
    let stopped = 0
    for (const { worker } of this.members.values()) void worker.stop().then(() => stopped++)
    await this.until(() => stopped === this.members.size, { stepSeconds: 1, withinSeconds: 300 })
    const timers = this.lives.filter(({ gate }) => gate.pendingTimers > 0).map(({ id }) => id)
    if (timers.length > 0) throw new Error(`Timers left in ${timers.join()}`)
    const held = this.subscriptions.filter((name) => this.claims.holderOf(name) !== null)
    if (held.length > 0) throw new Error(`Claims left: ${held.join()}`)
    for (const { id, events } of this.lives) {
      const end = events.findIndex(({ type }) => type === 'stopped')
      if (end !== -1 && end !== events.length - 1) throw new Error(`${id} told of ${events[end + 1]?.type} after it had stopped`)
    }
    this.recorder.verify()
  }

  /** For failures. */
  describe(): string {
    const lines = [`at ${this.clock.monotonicSeconds()} s`]
    for (const { id, worker, elector } of this.members.values()) {
      const { work, desired, whyIdle, plan } = worker.status()
      lines.push(
        `${id}${elector.isLeader ? ' (leads)' : ''}: desired ${desired?.join() ?? 'nothing yet'}; ${work.map(({ subscription, phase }) => `${subscription} ${phase}`).join(', ')}; ${whyIdle}`,
      )
      if (plan !== null) lines.push(`  ${JSON.stringify(plan)}`)
    }
    return lines.join('\n')
  }

  #endSession(member: Member): void {
    void member.elector.inner.forceLoseLeadership()
    this.election.leaveLine(member.elector.inner)
    member.ownership?.inner.disconnect()
  }

  #afterLease(act: () => void): void {
    if (this.leaseSeconds === 0) act()
    else this.clock.setTimer(this.leaseSeconds, act)
  }
}

/** What a message takes on a bus without faults. Not zero, so that no message arrives at the very instant of anything else. */
export const BUS_SECONDS = 0.001

/** The run of a well-behaved subscription. */
export const untilTold: Behaviour = (_subscription, { signal }) => told(signal)

/** A run that takes this long to end after it was told to. */
export function slowToStop(seconds: number): Behaviour {
  return async (_subscription, { signal }, { gate }) => {
    await told(signal)
    await new Promise<void>((resolve) => gate.wait(seconds, resolve))
  }
}

/** Resolves once `signal` has aborted. */
export function told(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve())
  })
}

/** `s00`, `s01`, ... */
export function names(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `s${String(index).padStart(2, '0')}`)
}

/** The same numbers for the same seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Plays a scenario on a new cluster, and checks at the end what must always hold. */
export async function simulate(options: ClusterOptions, scenario: (cluster: Cluster) => Promise<void>): Promise<void> {
  const cluster = new Cluster(options)
  await scenario(cluster)
  await cluster.verify()
}
