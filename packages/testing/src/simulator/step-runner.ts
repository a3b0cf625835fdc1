import type { Clock } from '@es/coordination-core'
import type { Cluster } from './cluster.js'
import { describeStep } from './describe-step.js'
import { LastingFaults } from './lasting-faults.js'
import type { Life } from './life.js'
import type { Chronicle } from './life-record.js'
import { ROLES, type ScenarioStep, type StepKind } from './scenario.js'
import type { SimulatedNetwork } from './simulated-network.js'
import type { SimulatedBackend } from './surroundings.js'
import type { BackendFault } from './wire.js'
import type { Misbehaviour } from './workload.js'

/** How often steps of one kind were done. */
export interface StepCount {
  done: number
  /** Could not be done. */
  skipped: number
  /** Befell an instance that led, or ran something. */
  onLeader: number
  onOwner: number
}

/** What a {@link StepRunner} works on. */
export interface StepRunnerOptions {
  readonly clock: Clock
  readonly cluster: Cluster
  readonly network: SimulatedNetwork
  readonly backend: SimulatedBackend
  readonly chronicle: Chronicle
}

type StepOf<Kind extends StepKind> = Extract<ScenarioStep, { readonly do: Kind }>
type NeedsLife = 'stop' | 'restart' | 'crash' | 'pause' | 'resume' | 'jump_clock' | 'drift' | 'end_session'

/** Does the steps of a scenario. */
export class StepRunner {
  readonly counts = new Map<StepKind, StepCount>()
  readonly #options: StepRunnerOptions
  readonly #lasting: LastingFaults
  readonly #backendFaults = new Set<{ readonly who: string | null; readonly fault: BackendFault }>()
  #outages = 0
  readonly #habits: { readonly subscription: string | null; readonly how: Misbehaviour }[] = []

  constructor(options: StepRunnerOptions) {
    this.#options = options
    this.#lasting = new LastingFaults(options.clock, options.chronicle)
  }

  /** What is wrong between an instance and the backend. */
  backendFaultsOf(instanceId: string): readonly BackendFault[] {
    if (this.#backendFaults.size === 0) return NO_FAULTS
    return [...this.#backendFaults].filter(({ who }) => who === null || who === instanceId).map(({ fault }) => fault)
  }

  /** What has come over the runs of a subscription. */
  habitOf(subscription: string): Misbehaviour | null {
    return this.#habits.findLast((habit) => habit.subscription === null || habit.subscription === subscription)?.how ?? null
  }

  /** Does one step, or skips it. */
  do(step: ScenarioStep): void {
    const { transcript } = this.#options.chronicle
    const who = 'who' in step && step.who !== undefined ? this.#resolve(step.who) : null
    const life = who === null ? undefined : this.#options.cluster.present.get(who)
    const isLeader = life?.leads === true
    const isOwner = (life?.running.size ?? 0) > 0
    const line = describeStep(step)
    if (!this.#isPossible(step, who, life)) {
      this.#count(step.do).skipped++
      transcript.step(who ?? ('who' in step ? (step.who ?? '') : ''), `(skipped) ${line}`)
      return
    }
    const count = this.#count(step.do)
    count.done++
    if (isLeader) count.onLeader++
    if (isOwner) count.onOwner++
    if (step.do !== 'wait') transcript.step(who ?? '', line)
    this.#do(step, who ?? '', life)
  }

  /** Ends every fault that lasts. */
  heal(): void {
    this.#lasting.endAll()
    for (const life of this.#options.cluster.present.values()) this.#options.cluster.resume(life)
  }

  #isPossible(step: ScenarioStep, who: string | null, life: Life | undefined): boolean {
    switch (step.do) {
      case 'start':
        return who !== null && life === undefined
      case 'stop':
      case 'restart':
        return life?.phase === 'up' && !life.process.isPaused
      case 'pause':
      case 'drift':
        return life !== undefined && !life.process.isPaused
      case 'resume':
        return life?.process.isPaused === true
      case 'end_session':
        // A holder that cannot hear of it goes on trusting its lease: nobody promises anything then.
        return life !== undefined && !life.process.isPaused && !life.wire.isDisturbed
      case 'crash':
      case 'jump_clock':
      case 'cut_bus':
        return life !== undefined
      case 'bad_backend':
        return step.who === undefined || who !== null
      default:
        return true
    }
  }

  #do(step: ScenarioStep, who: string, life: Life | undefined): void {
    const { cluster, network } = this.#options
    switch (step.do) {
      case 'start':
        cluster.start(who, { skewSeconds: step.skewSeconds ?? 0, rate: step.rate ?? 1 })
        break
      case 'partition':
        this.#split(step)
        break
      case 'bad_network':
        network.faults.add(step)
        this.#last(step, 'bad network', null, () => network.faults.delete(step))
        break
      case 'bad_backend':
        this.#spoilBackend(step, step.who === undefined ? null : who, 'bad backend')
        break
      case 'restart_backend':
        this.#restartBackend(step)
        break
      case 'misbehave': {
        const habit = { subscription: step.subscription ?? null, how: step.how }
        this.#habits.push(habit)
        this.#last(step, 'misbehaviour', null, () => this.#habits.splice(this.#habits.indexOf(habit), 1))
        break
      }
      case 'heal':
        this.heal()
        break
      case 'wait':
        break
      default:
        if (life !== undefined) this.#befall(step, life)
    }
  }

  /** What befalls one process. */
  #befall(step: StepOf<NeedsLife | 'cut_bus'>, life: Life): void {
    const { cluster } = this.#options
    const { instanceId } = life
    switch (step.do) {
      case 'stop':
        cluster.stop(life, { drainSeconds: step.drainSeconds })
        break
      case 'restart':
        cluster.stop(life, { left: () => cluster.startLater(instanceId, step.downSeconds ?? 0) })
        break
      case 'crash':
        cluster.kill(life, { isSilent: step.isSilent })
        if (step.downSeconds !== undefined) cluster.startLater(instanceId, step.downSeconds)
        break
      case 'pause':
        cluster.pause(life, step.forSeconds)
        break
      case 'resume':
        cluster.resume(life)
        break
      case 'jump_clock':
        life.process.jumpWallClock(step.bySeconds)
        this.#note('jump_clock', instanceId)
        break
      case 'drift':
        life.process.changeRate(step.rate)
        life.record.trustAnew()
        this.#note('drift', instanceId)
        break
      case 'end_session':
        this.#note('end_session', instanceId)
        life.adapters.endSession()
        break
      case 'cut_bus':
        life.transport.cut()
        this.#last(step, 'loss of connection', instanceId, () => life.transport.mend())
        break
    }
  }

  #split(step: StepOf<'partition'>): void {
    const { partitions } = this.#options.network
    const groups = new Map(step.groups.flatMap((group, index) => group.map((name) => [name, index] as const)))
    partitions.add(groups)
    this.#last(step, 'partition', null, () => partitions.delete(groups))
  }

  #spoilBackend(step: BackendFault & { readonly forSeconds?: number }, who: string | null, kind: string): void {
    const { cluster } = this.#options
    const entry = { who, fault: step }
    this.#backendFaults.add(entry)
    const affected = [...cluster.present.values()].filter(({ instanceId }) => who === null || who === instanceId)
    for (const life of affected) if (step.isCut) cluster.fallSilent(life, () => this.#backendFaults.has(entry))
    this.#last(step, kind, who, () => {
      this.#backendFaults.delete(entry)
      for (const life of cluster.lives) life.wire.mend()
    })
  }

  #restartBackend(step: StepOf<'restart_backend'>): void {
    const { backend, cluster } = this.#options
    if (backend.outage !== undefined) {
      if (this.#outages++ === 0) backend.outage.begin()
      this.#last(step, 'outage of the backend', null, () => {
        if (--this.#outages === 0) backend.outage?.end()
      })
      return
    }
    for (const { adapters } of cluster.lives) adapters.endSession()
    this.#spoilBackend(
      { refuses: true, ...(step.forSeconds === undefined ? {} : { forSeconds: step.forSeconds }) },
      null,
      'outage of the backend',
    )
  }

  #last({ forSeconds }: { readonly forSeconds?: number }, kind: string, instanceId: string | null, undo: () => void): void {
    this.#lasting.begin({ kind, instanceId, forSeconds, undo })
  }

  #note(kind: string, instanceId: string): void {
    const { chronicle } = this.#options
    if (chronicle.isKept) chronicle.history.push({ type: 'fault', at: chronicle.now(), kind, instanceId })
  }

  #resolve(who: string): string | null {
    const { present } = this.#options.cluster
    if (!(ROLES as readonly string[]).includes(who)) return who
    const up = [...present.values()].filter(({ phase }) => phase === 'up')
    const found = {
      'the leader': () => up.find(({ leads }) => leads),
      'a follower': () => up.find(({ leads, process }) => !leads && !process.isPaused),
      'the newest': () => up.at(-1),
      'an owner': () => up.find(({ running }) => running.size > 0),
    }[who as (typeof ROLES)[number]]()
    return found?.instanceId ?? null
  }

  #count(kind: StepKind): StepCount {
    const count = this.counts.get(kind) ?? { done: 0, skipped: 0, onLeader: 0, onOwner: 0 }
    this.counts.set(kind, count)
    return count
  }
}

const NO_FAULTS: readonly BackendFault[] = []
