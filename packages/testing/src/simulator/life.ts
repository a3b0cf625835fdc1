import type { Logger } from '@es/coordination-core'
import { Conduct } from './conduct.js'
import { type Gate, GatedElector } from './gated-elector.js'
import { GatedOwnership } from './gated-ownership.js'
import { GatedTransport } from './gated-transport.js'
import { type Chronicle, LifeRecord } from './life-record.js'
import { narratePublished } from './narrate-published.js'
import { NetworkTransport } from './network-transport.js'
import type { ScenarioTimings } from './scenario.js'
import { SeededRandom } from './seeded-random.js'
import type { SimulatedNetwork } from './simulated-network.js'
import { SimulatedProcess, type SimulatedProcessOptions } from './simulated-process.js'
import type { SimulatedStore } from './simulated-store.js'
import type { CreateInstance, SimulatedAdapters, SimulatedBackend, SimulatedInstance } from './surroundings.js'
import { type BackendFault, Wire } from './wire.js'
import { type Misbehaviour, Workload } from './workload.js'

/** What all lives of a simulation share. */
export interface World {
  readonly seed: number
  readonly chronicle: Chronicle
  readonly network: SimulatedNetwork
  readonly store: SimulatedStore
  readonly backend: SimulatedBackend
  readonly createInstance: CreateInstance
  readonly logger: Logger
  readonly subscriptions: readonly string[]
  readonly timings: ScenarioTimings
  readonly hasOwnership: boolean
  /** What is wrong with the backend, or with the way of one instance to it. */
  readonly backendFaultsOf: (instanceId: string) => readonly BackendFault[]
  readonly habitOf: (subscription: string) => Misbehaviour | null
  /** Told of what no instance should ever do. */
  readonly offends: (what: string) => void
}

/** One life of one instance: its process, its adapters, and what it runs. */
export class Life {
  readonly instanceId: string
  readonly incarnation: string
  readonly process: SimulatedProcess
  readonly wire: Wire
  readonly record: LifeRecord
  readonly transport: GatedTransport
  readonly adapters: SimulatedAdapters
  readonly instance: SimulatedInstance
  /** What it runs now. */
  readonly running = new Set<string>()
  phase: 'up' | 'leaving' | 'left' | 'dead' = 'up'

  constructor(instanceId: string, number: number, processOptions: SimulatedProcessOptions, world: World) {
    const { seed, chronicle, network, store, backend, timings, hasOwnership, subscriptions, logger } = world
    this.instanceId = instanceId
    this.incarnation = `${instanceId}/${number}`
    const stream = (what: string): SeededRandom => new SeededRandom(seed, `${this.incarnation} ${what}`)
    this.process = new SimulatedProcess(processOptions)
    this.record = new LifeRecord(instanceId, this.process, chronicle)
    this.wire = new Wire({
      clock: processOptions.clock,
      process: this.process,
      random: stream('wire'),
      faults: () => world.backendFaultsOf(instanceId),
    })
    const surroundings = { instanceId, logger, timings, clock: this.process, random: stream('instance').next }
    this.adapters = backend.connect({
      ...{ ...surroundings, network, hasOwnership, wire: this.wire, random: stream('adapters').next },
      trusted: (untilSeconds) => this.record.trusted(untilSeconds),
    })
    const conduct = new Conduct({
      ...{ instanceId, incarnation: this.incarnation, heartbeatTimeoutSeconds: timings.heartbeatTimeoutSeconds },
      ...{ clock: processOptions.clock, process: this.process, offends: world.offends, says: (what) => this.record.say(what) },
      believes: (peerId) => this.instance.peers?.().get(peerId),
    })
    const gate: Gate = {
      ...{ process: this.process, record: this.record, wire: this.adapters.usesWire === true ? null : this.wire },
      claiming: (names) => conduct.takes(names),
    }
    const elector = new GatedElector(this.adapters.elector, gate)
    const { transport = new NetworkTransport(instanceId, network, logger), ownership } = this.adapters
    this.transport = new GatedTransport(transport, { logger, process: this.process, published: narratePublished(this.record) })
    const workload = new Workload({
      ...{ process: this.process, record: this.record, store, random: stream('work'), habitOf: world.habitOf, offends: world.offends },
      slowSeconds: timings.drainTimeoutSeconds / 2,
      changed: (subscription, isRunning) => void (isRunning ? this.running.add(subscription) : this.running.delete(subscription)),
    })
    this.instance = world.createInstance({
      ...surroundings,
      ...{ incarnation: this.incarnation, subscriptions, elector, transport: conduct.over(this.transport) },
      ...(ownership && { ownership: new GatedOwnership(ownership, gate) }),
      run: (subscription, context) => {
        if (!hasOwnership) conduct.takes([subscription])
        return workload.run(subscription, context)
      },
      abandoned: (subscription) => workload.abandoned(subscription),
      report: (text) => this.record.say(text),
    })
  }

  /** Whether the process is there. */
  get isThere(): boolean {
    return this.phase === 'up' || this.phase === 'leaving'
  }

  /** Whether it leads, as it believes at this moment; nobody believes anything while standing still. */
  get leads(): boolean {
    return this.isThere && !this.process.isPaused && this.adapters.elector.isLeader
  }
}
