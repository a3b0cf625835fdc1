import { invalidOption, requireInteger, requireSeconds } from '@es/coordination-core'
import * as fc from 'fast-check'
import type { Scenario, StepKind } from './scenario.js'
import { type ScenarioChoices, scenarios } from './scenario-arbitrary.js'
import { checkSimulationOptions, formatSimulation, type SimulationOptions, type SimulationResult, simulate } from './simulate.js'
import type { StepCount } from './step-runner.js'

/** How {@link explore} looks. */
export interface ExplorationOptions extends SimulationOptions {
  /** How many scenarios are tried. @default 100 */
  readonly scenarios?: number
  /** Which ones: the same seed tries the same scenarios. @default 1 */
  readonly seed?: number
  /** One scenario of the seed, as a failure names it: only that is tried, and it is not shrunk further. */
  readonly path?: string
  /** What scenarios are made of. */
  readonly choices?: ScenarioChoices
  /** Ends the search after so long in real time, in seconds, without failing. @default no limit */
  readonly withinSeconds?: number
  /** Most simulations that shrinking may take. @default 400 */
  readonly maxShrinkSimulations?: number
  /** Told after each scenario. */
  readonly progress?: (figures: ExplorationFigures) => void
  /** The command that tries a failing scenario again, for the message. @default a call of `explore` */
  readonly rerunCommand?: (failure: { readonly seed: number; readonly path: string }) => string
}

/** An exploration in numbers. */
export interface ExplorationFigures {
  readonly scenarios: number
  /** Simulated seconds. */
  readonly seconds: number
  readonly published: number
  readonly delivered: number
  readonly statements: number
  readonly terms: number
  /** Longest time until a cluster was whole after its last step, and that a subscription had no owner while nothing was done, in seconds. */
  readonly longestRecoverySeconds: number
  readonly longestTakeoverSeconds: number
  /** What was done, by kind of step. */
  readonly steps: ReadonlyMap<StepKind, Readonly<StepCount>>
}

/** A scenario that goes wrong, shrunk. */
export class ExplorationFailure extends Error {
  readonly seed: number
  readonly path: string
  readonly #result: SimulationResult

  constructor(result: SimulationResult, { seed, path, rerun }: { readonly seed: number; readonly path: string; readonly rerun: string }) {
    super(
      [
        `A simulated cluster goes wrong. Again: ${rerun}`,
        result.faults.join('\n\n'),
        `Scenario: ${JSON.stringify(result.scenario)}`,
        formatSimulation({ ...result, faults: [] }),
      ].join('\n\n'),
    )
    this.name = 'ExplorationFailure'
    this.#result = result
    this.seed = seed
    this.path = path
  }

  /** What came of the shrunk scenario. */
  get result(): SimulationResult {
    return this.#result
  }
}

/**
 * Makes up scenarios and simulates them until one goes wrong.
 *
 * @throws ExplorationFailure with what is wrong, the shrunk scenario, its transcript, and how to see it again.
 * @throws CoordinationError `invalid_options` for an option that makes no sense, also for a `path` that leads to no scenario.
 */
export async function explore(options: ExplorationOptions): Promise<ExplorationFigures> {
  checkSimulationOptions(options)
  checkExploration(options)
  const {
    seed = 1,
    path,
    scenarios: count = 100,
    choices,
    withinSeconds,
    maxShrinkSimulations = 400,
    progress,
    rerunCommand,
    ...simulation
  } = options
  const tally = new Tally()
  let shrinking = 0
  let failed: SimulationResult | null = null
  const property = fc.asyncProperty(scenarios(choices), async (scenario: Scenario) => {
    // Passing is how a property says that it has enough.
    if (shrinking > maxShrinkSimulations) return true
    if (shrinking > 0) shrinking++
    const result = await simulate(scenario, simulation)
    if (shrinking === 0) {
      tally.add(result)
      progress?.(tally.figures())
    }
    if (result.holds) return true
    shrinking = Math.max(1, shrinking)
    failed = result
    return false
  })
  const details = await fc.check(property, {
    ...{ seed, numRuns: path === undefined ? count : 1, endOnFailure: path !== undefined },
    ...(path !== undefined && { path }),
    ...(withinSeconds !== undefined && { interruptAfterTimeLimit: withinSeconds * 1000, markInterruptAsFailure: false }),
  })
  if (failed === null && path !== undefined && tally.figures().scenarios === 0) {
    throw invalidOption('path', path, `one that a failure of the seed ${seed} named; the scenarios may have changed since`)
  }
  if (failed === null) {
    if (details.failed) throw details.errorInstance ?? new Error('The exploration was interrupted before the first scenario')
    return tally.figures()
  }
  const failure = { seed, path: details.counterexamplePath ?? '' }
  const rerun = rerunCommand?.(failure) ?? `explore({ ...options, seed: ${seed}, path: '${failure.path}' })`
  // The last that failed is the smallest: shrinking goes on from what fails.
  throw new ExplorationFailure(failed, { ...failure, rerun })
}

function checkExploration({ scenarios: count, seed, path, withinSeconds, maxShrinkSimulations }: ExplorationOptions): void {
  if (count !== undefined) requireInteger('scenarios', count, { atLeast: 1, atMost: 2 ** 31 - 1 })
  if (seed !== undefined) requireInteger('seed', seed, { atLeast: -(2 ** 31), atMost: 2 ** 31 - 1 })
  if (path !== undefined && !/^\d+(:\d+)*$/.test(path))
    throw invalidOption('path', path, 'numbers with colons in between, as a failure names it')
  if (withinSeconds !== undefined) requireSeconds('withinSeconds', withinSeconds)
  if (maxShrinkSimulations !== undefined) requireInteger('maxShrinkSimulations', maxShrinkSimulations)
}

/** Sums up simulations. */
class Tally {
  readonly #steps = new Map<StepKind, StepCount>()
  #scenarios = 0
  #seconds = 0
  #published = 0
  #delivered = 0
  #statements = 0
  #terms = 0
  #longestRecoverySeconds = 0
  #longestTakeoverSeconds = 0

  add({ figures, report }: SimulationResult): void {
    this.#scenarios++
    this.#seconds += figures.seconds
    this.#published += figures.published
    this.#delivered += figures.delivered
    this.#statements += figures.statements
    this.#terms += report?.figures.terms ?? 0
    this.#longestRecoverySeconds = Math.max(this.#longestRecoverySeconds, figures.recoverySeconds ?? 0)
    this.#longestTakeoverSeconds = Math.max(this.#longestTakeoverSeconds, figures.longestTakeoverSeconds)
    for (const [kind, count] of figures.steps) {
      const sum = this.#steps.get(kind) ?? { done: 0, skipped: 0, onLeader: 0, onOwner: 0 }
      this.#steps.set(kind, {
        done: sum.done + count.done,
        skipped: sum.skipped + count.skipped,
        onLeader: sum.onLeader + count.onLeader,
        onOwner: sum.onOwner + count.onOwner,
      })
    }
  }

  figures(): ExplorationFigures {
    return {
      ...{ scenarios: this.#scenarios, seconds: this.#seconds, published: this.#published, delivered: this.#delivered },
      ...{ statements: this.#statements, terms: this.#terms, steps: this.#steps },
      longestRecoverySeconds: this.#longestRecoverySeconds,
      longestTakeoverSeconds: this.#longestTakeoverSeconds,
    }
  }
}
