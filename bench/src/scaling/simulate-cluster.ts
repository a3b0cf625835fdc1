import { type Clock, type LeaderElector, systemClock } from '@es/coordination-core'
import {
  type CreateInstance,
  lockServerBackend,
  type ScenarioStep,
  type ScenarioTimings,
  type Surroundings,
  simulate,
} from '@es/coordination-testing'
import { CoordinatedWorker } from '@es/coordination-worker'
import type { Cell, StableFigures, SteadyFigures } from './cell.js'
import type { RecordedTraffic } from './replay.js'
import { RunWatch } from './run-watch.js'
import { Traffic, type TrafficCounts } from './traffic.js'

/** The defaults of `PostgresCoordination` and of the worker, which the simulator wants to be told. */
const DEFAULTS: ScenarioTimings = {
  leaseSeconds: 10,
  renewDeadlineSeconds: 20 / 3,
  pollSeconds: 0.5,
  requestTimeoutSeconds: 5,
  heartbeatIntervalSeconds: 5,
  heartbeatTimeoutSeconds: 15,
  electionIntervalSeconds: 5,
  observeIntervalSeconds: 0.5,
  crashGraceSeconds: 0.5,
  settleSeconds: 2,
  drainTimeoutSeconds: 30,
  longestRetrySeconds: 5,
  longestRunPauseSeconds: 30,
  declineSeconds: 60,
  massLossHoldSeconds: 30,
}

/** All instances start within this time. */
const START_SECONDS = 1
const QUIET_FROM = 4
/** In this time everybody is heard. */
export const WARM_UP_SECONDS = DEFAULTS.heartbeatIntervalSeconds
/** In this time every assignment is said again, and everybody is heard three times. */
export const WINDOW_SECONDS = DEFAULTS.heartbeatTimeoutSeconds
const QUIET_UNTIL = QUIET_FROM + WARM_UP_SECONDS + WINDOW_SECONDS
const JOIN_AT = QUIET_UNTIL + 1
/** After each change. */
const WATCHED_SECONDS = 4.5
const A_MOMENT = 1e-3
const CHANGES = {
  start: { from: START_SECONDS, until: JOIN_AT },
  join: { from: JOIN_AT, until: JOIN_AT + WATCHED_SECONDS },
  leave: { from: JOIN_AT + WATCHED_SECONDS, until: JOIN_AT + 2 * WATCHED_SECONDS },
  crash: { from: JOIN_AT + 2 * WATCHED_SECONDS, until: JOIN_AT + 3 * WATCHED_SECONDS },
} as const
const NEWCOMER = 'newcomer'
/** Whose ears are used. Not the first, which leads. */
const FOLLOWER = 'instance-1'

/** What a simulated cluster did. */
export interface SimulatedFigures {
  readonly steady: SteadyFigures
  readonly stable: StableFigures
  readonly traffic: RecordedTraffic
}

/** The names of `count` subscriptions. */
export function subscriptionNames(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `subscription-${index}`)
}

/**
 * Simulates a cluster of real workers at their defaults that starts, rests, and then sees an instance join, another one leave and a third one die. Runs only wait.
 *
 * @throws Error when the workers refuse to be so many.
 */
export async function simulateCluster(cell: Cell): Promise<SimulatedFigures> {
  const simulation = new ClusterSimulation(cell)
  return await simulation.run()
}

class ClusterSimulation {
  readonly #cell: Cell
  readonly #watch: RunWatch
  readonly #traffic: Traffic
  readonly #electors = new Map<string, LeaderElector>()
  readonly #stable: { -readonly [Change in keyof StableFigures]: number | null } = { start: null, join: null, leave: null, crash: null }
  readonly #counts: TrafficCounts[] = []
  /** Of the cluster at rest. */
  #assignments: RecordedTraffic['assignments'] = new Map()
  #clock: Clock = systemClock
  #victim = ''
  #over: Error | null = null
  /** What a worker threw that cannot be made. */
  #refusal: unknown = null

  constructor(cell: Cell) {
    this.#cell = cell
    const now = (): number => this.#clock.monotonicSeconds()
    this.#watch = new RunWatch(cell.subscriptions, now)
    this.#traffic = new Traffic({
      ...{ hearing: cell.hearing, now },
      listeners: () => this.#watch.present.size,
      isLeader: (instanceId) => this.#electors.get(instanceId)?.isLeader === true,
    })
  }

  async run(): Promise<SimulatedFigures> {
    const { subscriptions } = this.#cell
    const connect = lockServerBackend()
    const { faults } = await simulate(
      { seed: 1, subscriptions: subscriptionNames(subscriptions), timings: DEFAULTS, steps: this.#steps() },
      {
        isRecorded: false,
        createBackend: (options) => {
          this.#clock = options.clock
          this.#plan()
          return connect(options)
        },
        createInstance: (surroundings) => {
          try {
            return this.#instance(surroundings)
          } catch (error) {
            this.#refusal = error
            throw error
          }
        },
      },
    )
    if (this.#refusal !== null) throw this.#refusal
    if (this.#over === null) throw new Error(faults.join('; '))
    const [before, after] = this.#counts
    if (before === undefined || after === undefined) throw new Error('Nothing was counted')
    return {
      steady: {
        published: (after.published - before.published) / WINDOW_SECONDS,
        publishedBytes: (after.publishedBytes - before.publishedBytes) / WINDOW_SECONDS,
        delivered: (after.delivered - before.delivered) / WINDOW_SECONDS,
        deliveredBytes: (after.deliveredBytes - before.deliveredBytes) / WINDOW_SECONDS,
      },
      stable: this.#stable,
      traffic: {
        heard: this.#traffic.heard,
        assignments: this.#assignments,
        from: QUIET_FROM,
        leader: this.#leader ?? '',
        follower: FOLLOWER,
      },
    }
  }

  #steps(): ScenarioStep[] {
    const { instances } = this.#cell
    const simulation = this
    return [
      ...Array.from(
        { length: instances },
        (_, index): ScenarioStep => ({
          do: 'start',
          who: `instance-${index}`,
          afterSeconds: START_SECONDS / instances,
        }),
      ),
      { do: 'start', who: NEWCOMER, afterSeconds: JOIN_AT - START_SECONDS },
      // Whoever owns something then.
      ...(['stop', 'crash'] as const).map(
        (what): ScenarioStep => ({
          do: what,
          get who() {
            return simulation.#victim
          },
          afterSeconds: WATCHED_SECONDS,
        }),
      ),
      { do: 'wait', afterSeconds: WATCHED_SECONDS },
    ]
  }

  /** What is looked at when. */
  #plan(): void {
    const at = (seconds: number, look: () => void): void => void this.#clock.setTimer(seconds, look)
    const count = (): void => void this.#counts.push({ ...this.#traffic.counts })
    at(QUIET_FROM, () => {
      this.#traffic.isRecording = true
    })
    at(QUIET_FROM + WARM_UP_SECONDS, count)
    at(QUIET_UNTIL, () => {
      count()
      this.#traffic.isRecording = false
      this.#assignments = new Map(this.#traffic.assignments)
    })
    for (const change of ['start', 'join', 'leave', 'crash'] as const) {
      at(CHANGES[change].until - A_MOMENT, () => {
        this.#stable[change] = this.#watch.isStable ? Math.max(0, this.#watch.changedAt - CHANGES[change].from) : null
        if (change === 'join' || change === 'leave') this.#choose(change)
        if (change === 'crash') {
          // What the simulator would do now is to judge runs that do nothing.
          this.#over = new Error('The simulation is over')
          throw this.#over
        }
      })
    }
  }

  /** Somebody is about to leave, or to die. */
  #choose(after: 'join' | 'leave'): void {
    this.#victim = this.#watch.ownerOtherThan([this.#leader, NEWCOMER, FOLLOWER]) ?? NEWCOMER
    if (after === 'leave') this.#watch.gone(this.#victim)
  }

  get #leader(): string | undefined {
    return [...this.#electors].find(([, { isLeader }]) => isLeader)?.[0]
  }

  #instance({ instanceId, ...surroundings }: Surroundings): ReturnType<CreateInstance> {
    const { incarnation, subscriptions, clock, random, logger, elector, ownership } = surroundings
    const watch = this.#watch
    const worker = new CoordinatedWorker({
      ...{ instanceId, incarnation, subscriptions, clock, random, logger, elector },
      ...(ownership && { ownership }),
      transport: this.#traffic.over(surroundings.transport, instanceId, instanceId === FOLLOWER),
      async run(subscription, { signal }) {
        watch.started(instanceId, subscription)
        await aborted(signal)
        watch.ended(instanceId, subscription)
      },
    })
    this.#electors.set(instanceId, elector)
    watch.joined(instanceId)
    return {
      start: () => worker.start(),
      async stop() {
        await worker.stop()
        watch.gone(instanceId)
      },
    }
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
