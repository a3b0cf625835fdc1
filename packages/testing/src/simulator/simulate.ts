import { errorMessage, type Logger, requireFunction, requireOptions } from '@es/coordination-core'
import { checkHistory, type HistoryReport } from '../history/check-history.js'
import { formatBreaches } from '../history/format-breaches.js'
import type { HistoryEvent } from '../history/history-event.js'
import { ManualClock } from '../manual-clock.js'
import { checkScenario } from './check-scenario.js'
import { Cluster } from './cluster.js'
import type { World } from './life.js'
import type { Chronicle } from './life-record.js'
import { lockServerBackend } from './lock-server-backend.js'
import { DEFAULT_TIMINGS, recoverySeconds, type Scenario, type ScenarioStep, type StepKind, subscriptionNames } from './scenario.js'
import { SeededRandom } from './seeded-random.js'
import { type NetworkFigures, SimulatedNetwork } from './simulated-network.js'
import { SimulatedStore } from './simulated-store.js'
import { type StepCount, StepRunner } from './step-runner.js'
import type { CreateBackend, CreateInstance, SimulatedBackend } from './surroundings.js'
import { formatTranscript, Transcript, type TranscriptLine } from './transcript.js'
import { collectUnhandledRejections } from './unhandled-rejections.js'
import { whyNotWhole } from './verdict.js'

/** How {@link simulate} goes about it. */
export interface SimulationOptions {
  /** Makes one life of the instance under test. */
  readonly createInstance: CreateInstance
  /** The backend that the instances share, with its adapters. @default lockServerBackend() */
  readonly createBackend?: CreateBackend
  /** Where instances log. @default nowhere */
  readonly logger?: Logger
  /** Whether history and transcript are kept; without, only the end is judged. For simulations that are too large to be kept. @default true */
  readonly isRecorded?: boolean
}

/** A simulation in numbers. */
export interface SimulationFigures extends Readonly<NetworkFigures> {
  /** Simulated seconds. */
  readonly seconds: number
  /** Requests to the backend, as far as it counts them. */
  readonly statements: number
  /** How long it took until the cluster was whole after the last step, in seconds; `null` when it never was. */
  readonly recoverySeconds: number | null
  /** Longest time that a subscription had no owner while nothing was done to the cluster; 0 without a recording. */
  readonly longestTakeoverSeconds: number
  /** What was done, by kind of step. */
  readonly steps: ReadonlyMap<StepKind, StepCount>
}

/** What came of a simulation. */
export interface SimulationResult {
  readonly scenario: Scenario
  /** Whether nothing is wrong. */
  readonly holds: boolean
  /** What is wrong, one sentence each. */
  readonly faults: readonly string[]
  readonly history: readonly HistoryEvent[]
  /** The judgement of the history; `null` without a recording. */
  readonly report: HistoryReport | null
  readonly transcript: readonly TranscriptLine[]
  readonly figures: SimulationFigures
}

// How often a cluster is looked at while it recovers.
const LOOK_SECONDS = 0.25
const TOLERANCE_SECONDS = 1e-6

/**
 * Plays a scenario on a cluster of real instances, in one process and in virtual time, and judges it. The same scenario and options have the same result, to
 * the byte, as long as `createInstance` and `createBackend` take time and chance from nowhere else.
 *
 * When the steps are done all faults end, and the cluster has the time of `recoverySeconds` to be whole: one leader, every subscription run once and going on,
 * the work balanced, nobody with a problem, and all that for a heartbeat timeout in a row. Then all leave, and nothing may be left: no timer, no lock, no unhandled rejection. What
 * happened on the way is judged by `checkHistory`, and how each instance took the messages that it heard, as far as its `peers()` tells.
 *
 * Never rejects for what an instance does. Simulations in parallel share the unhandled rejections of the process, and would blame each other's.
 *
 * @throws CoordinationError `invalid_options` for a scenario or an option that makes no sense, naming what is wrong.
 */
export async function simulate(scenario: Scenario, options: SimulationOptions): Promise<SimulationResult> {
  checkScenario(scenario)
  checkSimulationOptions(options)
  const simulation = new Simulation(scenario, options)
  const rejections = collectUnhandledRejections()
  try {
    await simulation.play()
  } catch (error) {
    simulation.faults.push(`The simulation broke off: ${errorMessage(error)}`)
  }
  for (const reason of await rejections.end()) simulation.faults.push(`A promise rejection was not handled: ${errorMessage(reason)}`)
  return simulation.result()
}

/** Whether a step makes a run write that has lost its claim. */
function writesLate(step: ScenarioStep): boolean {
  return step.do === 'pause' || (step.do === 'misbehave' && (step.how === 'ignores' || step.how === 'writes_on'))
}

/** @throws CoordinationError `invalid_options`. */
export function checkSimulationOptions(options: SimulationOptions): void {
  const { createInstance, createBackend } = requireOptions(options)
  requireFunction('createInstance', createInstance)
  if (createBackend !== undefined) requireFunction('createBackend', createBackend)
}

class Simulation {
  readonly faults: string[] = []
  readonly #scenario: Scenario
  readonly #clock = new ManualClock()
  readonly #chronicle: Chronicle
  readonly #network: SimulatedNetwork
  readonly #store: SimulatedStore
  readonly #backend: SimulatedBackend
  readonly #world: World
  readonly #cluster: Cluster
  readonly #steps: StepRunner
  #recoveredIn: number | null = null

  constructor(
    scenario: Scenario,
    { createInstance, createBackend = lockServerBackend(), logger = SILENT, isRecorded = true }: SimulationOptions,
  ) {
    this.#scenario = scenario
    const clock = this.#clock
    const now = (): number => clock.monotonicSeconds()
    const { seed, hasOwnership = true } = scenario
    const timings = { ...DEFAULT_TIMINGS, ...scenario.timings }
    this.#chronicle = { now, history: [], transcript: new Transcript(now, isRecorded), isKept: isRecorded }
    this.#network = new SimulatedNetwork({ clock, random: new SeededRandom(seed, 'network') })
    this.#store = new SimulatedStore({
      clock,
      random: new SeededRandom(seed, 'store'),
      wrote: (event) => void (isRecorded && this.#chronicle.history.push(event)),
    })
    this.#backend = createBackend({ clock, timings })
    this.#world = {
      ...{ seed, timings, hasOwnership, createInstance, chronicle: this.#chronicle, network: this.#network, store: this.#store },
      backend: this.#backend,
      logger,
      subscriptions: subscriptionNames(scenario),
      backendFaultsOf: (instanceId) => this.#steps.backendFaultsOf(instanceId),
      habitOf: (subscription) => this.#steps.habitOf(subscription),
      offends: (what) => void this.#cluster.offences.push(what),
    }
    this.#cluster = new Cluster(this.#world, clock)
    this.#steps = new StepRunner({
      clock,
      cluster: this.#cluster,
      network: this.#network,
      backend: this.#backend,
      chronicle: this.#chronicle,
    })
  }

  async play(): Promise<void> {
    for (const step of this.#scenario.steps) {
      await this.#pass(step.afterSeconds ?? 0)
      this.#steps.do(step)
      await this.#pass(0)
    }
    this.#say('the scenario is over, and all faults end')
    this.#steps.heal()
    await this.#recover()
    await this.#leave()
  }

  result(): SimulationResult {
    const { history, transcript } = this.#chronicle
    const { longestTakeoverSeconds, report } = this.#judge()
    const faults = [
      ...this.faults,
      ...this.#cluster.offences,
      ...(report === null || report.holds ? [] : [formatBreaches(report, { limit: 3 })]),
    ]
    return {
      scenario: this.#scenario,
      holds: faults.length === 0,
      faults,
      history,
      report,
      transcript: transcript.lines,
      figures: {
        ...this.#network.figures,
        seconds: this.#clock.monotonicSeconds(),
        statements: this.#backend.statements ?? 0,
        recoverySeconds: this.#recoveredIn,
        longestTakeoverSeconds,
        steps: this.#steps.counts,
      },
    }
  }

  /** Waits until the cluster is whole, and stays so while its work goes on: a late answer may still upset it once. */
  async #recover(): Promise<void> {
    const { timings, subscriptions } = this.#world
    const limit = recoverySeconds(timings)
    const from = this.#clock.monotonicSeconds()
    let wholeSince: number | null = null
    let positions: readonly number[] = []
    for (;;) {
      // Somebody must be there to pick up the work.
      if (this.#cluster.present.size === 0 && !this.#cluster.isInMotion) this.#cluster.start(LAST_ONE)
      await this.#pass(LOOK_SECONDS)
      const now = this.#clock.monotonicSeconds()
      const why = whyNotWhole(this.#cluster, subscriptions)
      if (why !== null) {
        wholeSince = null
        if (now - from < limit) continue
        this.faults.push(`${limit} s after all faults had ended the cluster is not whole: ${why}`)
        return
      }
      if (wholeSince === null) {
        wholeSince = now
        positions = subscriptions.map((name) => this.#store.positionOf(name))
      }
      if (now - wholeSince >= timings.heartbeatTimeoutSeconds) break
    }
    this.#recoveredIn = wholeSince - from
    this.#say(`the cluster has been whole since ${wholeSince.toFixed(3)}`)
    const stuck = subscriptions.filter((name, index) => this.#store.positionOf(name) === positions[index])
    if (stuck.length > 0) this.faults.push(`${stuck.join(', ')} does not go on, though it runs`)
  }

  async #leave(): Promise<void> {
    const { timings } = this.#world
    this.#say('all are asked to leave')
    for (const life of [...this.#cluster.present.values()]) if (life.phase === 'up') this.#cluster.stop(life)
    const until = this.#clock.monotonicSeconds() + recoverySeconds(timings)
    while (this.#cluster.isInMotion && this.#clock.monotonicSeconds() < until) await this.#pass(LOOK_SECONDS)
    for (const { incarnation } of this.#cluster.present.values()) this.faults.push(`${incarnation} has not left when it was asked to`)
    // The backend may hold what silent instances had for a lease.
    await this.#pass(timings.leaseSeconds + 1)
    const leftovers = this.#backend.leftovers?.() ?? []
    if (leftovers.length > 0) this.faults.push(`Still held when all have left: ${leftovers.join(', ')}`)
    if (this.#chronicle.isKept) this.#chronicle.history.push({ type: 'end', at: this.#clock.monotonicSeconds() })
  }

  /** Lets time pass, in short steps while there is something to see. */
  async #pass(seconds: number): Promise<void> {
    const until = this.#clock.monotonicSeconds() + seconds
    do {
      await this.#clock.advance(Math.max(0, Math.min(LOOK_SECONDS, until - this.#clock.monotonicSeconds())))
      this.#cluster.look()
    } while (this.#clock.monotonicSeconds() < until - TOLERANCE_SECONDS)
  }

  #judge(): { readonly report: HistoryReport | null; readonly longestTakeoverSeconds: number } {
    if (!this.#chronicle.isKept) return { report: null, longestTakeoverSeconds: 0 }
    const { timings, hasOwnership } = this.#world
    const bound = recoverySeconds(timings)
    const report = checkHistory(this.#chronicle.history, {
      ownedBy: hasOwnership ? 'claim' : 'run',
      maxSecondsWithoutOwner: bound,
      maxSecondsWithoutLeader: bound,
      toleranceSeconds: TOLERANCE_SECONDS,
      // A run that is paused, or heeds nothing, can only be stopped by its token: that is what H5 and H10 to H12 judge.
      skip: this.#scenario.steps.some(writesLate) ? ['late_write'] : [],
      maxBreaches: 10,
    })
    const gaps = report.figures.subscriptions.map(({ longestRecoverySeconds }) => longestRecoverySeconds)
    return { report, longestTakeoverSeconds: Math.max(0, ...gaps) }
  }

  #say(what: string): void {
    this.#chronicle.transcript.step('', what)
  }
}

/** The transcript of a simulation and what is wrong, as text. */
export function formatSimulation({ transcript, faults }: SimulationResult): string {
  return [formatTranscript(transcript), ...faults].join('\n\n')
}

const LAST_ONE = 'z'
const SILENT: Logger = { debug() {}, info() {}, warn() {}, error() {} }
