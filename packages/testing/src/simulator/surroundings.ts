import type { Clock, LeaderElector, Logger, Ownership, Transport } from '@es/coordination-core'
import type { ScenarioTimings } from './scenario.js'
import type { SimulatedNetwork } from './simulated-network.js'
import type { Wire } from './wire.js'
import type { SimulatedRunContext } from './workload.js'

/** What an instance of a simulated cluster is made of: everything outside it, for one life of it. Nothing else may be random, or take time. */
export interface Surroundings {
  readonly instanceId: string
  /** Differs from life to life. */
  readonly incarnation: string
  /** All subscriptions of the cluster. */
  readonly subscriptions: readonly string[]
  readonly timings: ScenarioTimings
  /** The process's own clocks, which may be off. */
  readonly clock: Clock
  /** In [0, 1). */
  readonly random: () => number
  readonly logger: Logger
  readonly elector: LeaderElector
  readonly transport: Transport
  /** Absent in a cluster without claims. */
  readonly ownership?: Ownership
  /** The user's code: runs one subscription until its signal aborts, and misbehaves as the scenario wants it. */
  run(subscription: string, context: SimulatedRunContext): Promise<void>
  /** To be called when the instance has given up on a run that may still be going on. */
  abandoned(subscription: string): void
  /** Adds a line to the transcript. */
  report(text: string): void
}

/** What an instance believes of another one. */
export interface PeerBelief {
  /** What it runs. */
  readonly subscriptions: readonly string[]
  /** Whether it has announced that it leaves. */
  readonly isLeaving: boolean
}

/** One life of one instance under test. */
export interface SimulatedInstance {
  /** Takes part. When it rejects, the process ends and is started again a second later. */
  start(): Promise<void>
  /** Leaves in order, within its drain timeout or `drainSeconds`. */
  stop(options: { readonly drainSeconds?: number }): Promise<unknown>
  /** What it thinks is wrong with it. After all faults are over, that must be nothing. @default nothing */
  problems?(): readonly string[]
  /** What it believes of each of the others, by instance. Asked around each message that must not change it, or must. @default not judged */
  peers?(): ReadonlyMap<string, PeerBelief>
}

/** Makes one life of an instance. A `CoordinatedWorker` takes five lines. */
export type CreateInstance = (surroundings: Surroundings) => SimulatedInstance

/** Where an adapter is to be put: one life of one instance. */
export interface SimulatedPlace {
  readonly instanceId: string
  /** The process's own clock: a timer set here is paused and killed with the process. */
  readonly clock: Clock
  readonly random: () => number
  readonly logger: Logger
  readonly timings: ScenarioTimings
  /** The way to the backend, with all that the scenario does to it. */
  readonly wire: Wire
  readonly network: SimulatedNetwork
  readonly hasOwnership: boolean
  /** To be called after each renewal: the instance believes what it holds until `untilSeconds` on `clock`. Without, it believes until it says otherwise. */
  trusted(untilSeconds: number): void
}

/** The adapters of one life of one instance. */
export interface SimulatedAdapters {
  readonly elector: LeaderElector
  /** @default one over the simulated network */
  readonly transport?: Transport
  /** Left out where the place has none. */
  readonly ownership?: Ownership
  /**
   * Whether every request goes through the wire of the place already, and a silent instance loses what it holds by itself. Otherwise whole calls go through
   * it, and {@link endSession} is called a lease after the instance fell silent.
   * @default false
   */
  readonly usesWire?: boolean
  /** Takes away what the instance holds or waits for, as a backend does that ended its session. */
  endSession(): void
  /** The instance has left. */
  close?(): Promise<void> | void
}

/** A backend of one simulation, shared by all of its instances. */
export interface SimulatedBackend {
  connect(place: SimulatedPlace): SimulatedAdapters
  /** Goes down for a while, and forgets every session. @default every session is ended, and requests are refused meanwhile */
  readonly outage?: { begin(): void; end(): void }
  /** What is held when nobody is left. @default nothing */
  leftovers?(): readonly string[]
  /** Requests so far. @default 0 */
  readonly statements?: number
}

/** Makes the backend of one simulation. `clock` shows the true time. */
export type CreateBackend = (options: { readonly clock: Clock; readonly timings: ScenarioTimings }) => SimulatedBackend
