import { WORK_ASSIGNMENT_TOPIC } from '@es/coordination-core'
import * as fc from 'fast-check'
import { DEFAULT_TIMINGS, type Scenario, type ScenarioStep, type ScenarioTimings } from './scenario.js'
import { MISBEHAVIOURS, type Misbehaviour } from './workload.js'

/**
 * Which faults are made up: `claims` all of them, in a cluster with claims · `repeating_bus` and `cut_bus` those that a cluster without claims is promised to
 * stand: instances come, go and die, and the bus repeats and reorders messages, or cuts instances off.
 */
export type FaultFamily = 'claims' | 'repeating_bus' | 'cut_bus'

/** What {@link scenarios} makes up. */
export interface ScenarioChoices {
  /** The instances that may take part; at least two. @default a, b, c, d and e */
  readonly instances?: readonly string[]
  /** Most subscriptions. @default 9 */
  readonly maxSubscriptions?: number
  /** Most episodes, of one to a handful of steps each. @default 6 */
  readonly maxEpisodes?: number
  /** @default claims, and now and then one of the others */
  readonly family?: FaultFamily
  readonly timings?: Partial<ScenarioTimings>
}

type Steps = fc.Arbitrary<readonly ScenarioStep[]>
type Step = fc.Arbitrary<ScenarioStep>

/**
 * Scenarios that look for trouble, for property tests with fast-check: faults come in episodes, close to each other and to deadlines, and prefer the leader
 * and those in the middle of something. They shrink to fewer and simpler steps.
 */
export function scenarios(choices: ScenarioChoices = {}): fc.Arbitrary<Scenario> {
  if (choices.family !== undefined) return scenariosOf(choices.family, choices)
  return fc.oneof(
    { weight: 8, arbitrary: scenariosOf('claims', choices) },
    { weight: 1, arbitrary: scenariosOf('repeating_bus', choices) },
    { weight: 1, arbitrary: scenariosOf('cut_bus', choices) },
  )
}

function scenariosOf(
  family: FaultFamily,
  { instances = ['a', 'b', 'c', 'd', 'e'], timings, ...choices }: ScenarioChoices,
): fc.Arbitrary<Scenario> {
  const faults = new FaultArbitraries(instances, { ...DEFAULT_TIMINGS, ...timings }, family)
  return fc
    .record({
      seed: fc.nat(),
      subscriptions: fc.integer({ min: 1, max: choices.maxSubscriptions ?? 9 }),
      beginning: faults.beginning,
      episodes: fc.array(faults.episode, { minLength: 1, maxLength: choices.maxEpisodes ?? 6, size: 'max' }),
    })
    .map(({ seed, subscriptions, beginning, episodes }) => ({
      ...{ seed, subscriptions, hasOwnership: family === 'claims', ...(timings && { timings }) },
      steps: [...beginning, ...episodes.flat()],
    }))
}

const HARMLESS_MISBEHAVIOURS: readonly Misbehaviour[] = ['throws', 'returns', 'is_slow']
const NEAR_MILLISECONDS = 60

/** What can happen to a cluster, one by one and in episodes. */
class FaultArbitraries {
  readonly #instances: readonly string[]
  readonly #timings: ScenarioTimings
  readonly #family: FaultFamily
  readonly #id: fc.Arbitrary<string>
  readonly #who: fc.Arbitrary<string>
  /** A time close to one that matters, or no time at all, or any. */
  readonly #gap: fc.Arbitrary<number>
  /** How long a fault lasts. */
  readonly #span: fc.Arbitrary<number>
  readonly #moment = milliseconds(0, NEAR_MILLISECONDS)

  constructor(instances: readonly string[], timings: ScenarioTimings, family: FaultFamily) {
    this.#instances = instances
    this.#timings = timings
    this.#family = family
    this.#id = fc.constantFrom(...instances)
    this.#who = fc.oneof(
      { weight: 4, arbitrary: this.#id },
      { weight: 3, arbitrary: fc.constantFrom('the leader') },
      { weight: 2, arbitrary: fc.constantFrom('an owner', 'the newest', 'a follower') },
    )
    const deadlines = [timings.leaseSeconds, timings.renewDeadlineSeconds, timings.heartbeatTimeoutSeconds, timings.settleSeconds]
    const near = fc
      .tuple(
        fc.constantFrom(...deadlines, timings.observeIntervalSeconds, timings.crashGraceSeconds),
        milliseconds(-NEAR_MILLISECONDS, NEAR_MILLISECONDS),
      )
      .map(([deadline, off]) => round(Math.max(0, deadline + off)))
    this.#gap = fc.oneof(
      { weight: 2, arbitrary: fc.constant(0) },
      { weight: 3, arbitrary: this.#moment },
      { weight: 3, arbitrary: near },
      { weight: 4, arbitrary: milliseconds(0, 4000) },
    )
    this.#span = fc.oneof({ weight: 2, arbitrary: near }, { weight: 3, arbitrary: milliseconds(50, 6000) })
  }

  /** A few instances start, and mostly have the time to share the work. */
  get beginning(): Steps {
    const starts = fc
      .tuple(
        fc.shuffledSubarray([...this.#instances], { minLength: 1, maxLength: Math.min(3, this.#instances.length) }),
        fc.array(this.#clock, { minLength: 3, maxLength: 3 }),
        this.#moment,
      )
      .map(([ids, clocks, apart]) => ids.map((who, index): ScenarioStep => ({ do: 'start', who, afterSeconds: apart, ...clocks[index] })))
    const pause = fc.oneof({ weight: 3, arbitrary: milliseconds(2500, 4000) }, { weight: 1, arbitrary: milliseconds(0, 2500) })
    return fc.tuple(starts, pause).map(([steps, afterSeconds]): readonly ScenarioStep[] => [...steps, { do: 'wait', afterSeconds }])
  }

  get episode(): Steps {
    const episodes = [
      { weight: 4, arbitrary: this.#fault.map((step) => [step]) },
      { weight: 2, arbitrary: this.#together(this.#fault, this.#fault) },
      // In the middle of a handover.
      { weight: 2, arbitrary: this.#together(this.#leave('the leader'), this.#fault) },
      // Somebody joins, and something happens to it, or to whoever was to give it work.
      { weight: 3, arbitrary: this.#together(this.#start, this.#fault) },
      { weight: 1, arbitrary: this.#rollingRestart },
    ]
    if (this.#family === 'claims') {
      episodes.push(
        // What holds everything up for all makes the other faults worse.
        { weight: 2, arbitrary: this.#together(this.#outage, this.#fault) },
        {
          weight: 2,
          arbitrary: this.#span.chain((forSeconds) =>
            this.#together(fc.constant({ do: 'pause', who: 'the leader', forSeconds }), this.#fault),
          ),
        },
        { weight: 2, arbitrary: this.#crossing },
      )
    }
    return fc.oneof(...episodes)
  }

  get #fault(): Step {
    const common: fc.WeightedArbitrary<ScenarioStep>[] = [
      { weight: 3, arbitrary: this.#start },
      { weight: 2, arbitrary: this.#leave() },
      { weight: 3, arbitrary: this.#crash },
      { weight: 1, arbitrary: this.#step({ do: fc.constant('end_session'), who: this.#who }) },
      {
        weight: 1,
        arbitrary: this.#step({ do: fc.constant('jump_clock'), who: this.#who, bySeconds: fc.constantFrom(-3600, -20, 20, 3600) }),
      },
      { weight: 1, arbitrary: this.#misbehave },
    ]
    return fc.oneof(...common, ...this.#ofFamily)
  }

  get #ofFamily(): fc.WeightedArbitrary<ScenarioStep>[] {
    const cutBus = { weight: 2, arbitrary: this.#step({ do: fc.constant('cut_bus'), who: this.#who, forSeconds: this.#span }) }
    if (this.#family === 'cut_bus') return [cutBus]
    if (this.#family === 'repeating_bus') return [{ weight: 3, arbitrary: this.#badNetwork(0) }]
    return [
      cutBus,
      { weight: 3, arbitrary: this.#step({ do: fc.constant('pause'), who: this.#who, forSeconds: this.#span }) },
      { weight: 1, arbitrary: this.#step({ do: fc.constant('drift'), who: this.#who, rate: this.#rate }) },
      { weight: 2, arbitrary: this.#badNetwork(50) },
      { weight: 2, arbitrary: this.#partition },
      { weight: 3, arbitrary: this.#badBackend(this.#who) },
      { weight: 2, arbitrary: this.#outage },
    ]
  }

  get #start(): Step {
    return fc
      .tuple(this.#id, this.#clock, this.#gap)
      .map(([who, clock, afterSeconds]): ScenarioStep => ({ do: 'start', who, afterSeconds, ...clock }))
  }

  #leave(who?: string): Step {
    const target = who === undefined ? this.#who : fc.constant(who)
    return fc.oneof(
      this.#step({ do: fc.constant('stop'), who: target, drainSeconds: fc.constantFrom(this.#timings.drainTimeoutSeconds, 0) }),
      this.#step({ do: fc.constant('restart'), who: target, downSeconds: this.#gap }),
    )
  }

  get #crash(): Step {
    return fc.oneof(
      this.#step({ do: fc.constant('crash'), who: this.#who }),
      this.#step({ do: fc.constant('crash'), who: this.#who, isSilent: fc.boolean(), downSeconds: this.#gap }),
    )
  }

  get #misbehave(): Step {
    const how = fc.constantFrom(...(this.#family === 'claims' ? MISBEHAVIOURS : HARMLESS_MISBEHAVIOURS))
    return fc.oneof(
      this.#step({ do: fc.constant('misbehave'), how, forSeconds: this.#span }),
      this.#step({ do: fc.constant('misbehave'), how, subscription: fc.constantFrom('s1', 's2'), forSeconds: this.#span }),
    )
  }

  #badNetwork(mostLossPercent: number): Step {
    return this.#step({
      do: fc.constant('bad_network'),
      loss: fc.integer({ min: 0, max: mostLossPercent }).map((percent) => percent / 100),
      repeat: fc.constantFrom(0, 0.2, 0.5),
      // Beyond the heartbeat timeout only where claims keep the order.
      jitterSeconds: milliseconds(0, mostLossPercent === 0 ? 400 : 5000),
      forSeconds: this.#span,
    })
  }

  get #partition(): Step {
    const groups = fc.subarray([...this.#instances], { minLength: 1, maxLength: this.#instances.length - 1 }).map((group) => [group])
    return this.#step({ do: fc.constant('partition'), groups, forSeconds: this.#span })
  }

  get #outage(): Step {
    return fc.oneof(this.#badBackend(null), this.#step({ do: fc.constant('restart_backend'), forSeconds: this.#span }))
  }

  #badBackend(who: fc.Arbitrary<string> | null): Step {
    const target = who === null ? {} : { who }
    const bad = { do: fc.constant('bad_backend'), ...target, forSeconds: this.#span }
    return fc.oneof(
      this.#step({ ...bad, slowSeconds: milliseconds(50, 3000) }),
      this.#step({ ...bad, refuses: fc.constant(true) }),
      this.#step({ ...bad, lateSeconds: milliseconds(500, 6000) }),
      this.#step({ ...bad, isCut: fc.constant(true) }),
    )
  }

  get #rollingRestart(): Steps {
    return fc
      .tuple(milliseconds(200, 3000), milliseconds(0, 2000))
      .map(([afterSeconds, downSeconds]) => this.#instances.map((who): ScenarioStep => ({ do: 'restart', who, afterSeconds, downSeconds })))
  }

  /** Assignments take long, there is something new to assign, and then another one leads: what the two say may cross. */
  get #crossing(): Steps {
    const slow = this.#step({
      ...{ do: fc.constant('bad_network'), topic: fc.constant(WORK_ASSIGNMENT_TOPIC) },
      ...{ jitterSeconds: milliseconds(1000, 5000), forSeconds: milliseconds(3000, 8000) },
    })
    const change = fc.oneof(
      this.#start,
      this.#leave('a follower'),
      this.#step({ do: fc.constant('crash'), who: fc.constant('a follower') }),
    )
    const end = fc.oneof(
      this.#leave('the leader'),
      this.#step({ do: fc.constantFrom('crash', 'end_session'), who: fc.constant('the leader') }),
    )
    return fc
      .tuple(slow, change, end, milliseconds(0, 3000))
      .map(([first, second, third, afterSeconds]): readonly ScenarioStep[] => [first, second, { ...third, afterSeconds }])
  }

  get #rate(): fc.Arbitrary<number> {
    // Clocks may differ by a tenth. Without claims both ends of a silence are measured by clocks, so each has half of it.
    const most = this.#family === 'claims' ? 8 : 4
    return fc.integer({ min: -most, max: most }).map((percent) => (100 + percent) / 100)
  }

  get #clock(): fc.Arbitrary<{ readonly skewSeconds?: number; readonly rate?: number }> {
    const off = fc.record({ skewSeconds: fc.constantFrom(0, -40, 0.3, 90), rate: this.#rate })
    return fc.oneof({ weight: 2, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: off })
  }

  #step(parts: { readonly do: fc.Arbitrary<ScenarioStep['do']> } & Readonly<Record<string, fc.Arbitrary<unknown>>>): Step {
    return fc.record({ ...parts, afterSeconds: this.#gap }) as fc.Arbitrary<unknown> as Step
  }

  /** The second shortly after the first. */
  #together(first: Step, second: Step): Steps {
    const soon = fc.oneof(this.#moment, milliseconds(0, 600))
    return fc.tuple(first, second, soon).map(([one, other, afterSeconds]) => [one, { ...other, afterSeconds }])
  }
}

function milliseconds(min: number, max: number): fc.Arbitrary<number> {
  return fc.integer({ min, max }).map((value) => value / 1000)
}

function round(seconds: number): number {
  return Math.round(seconds * 1000) / 1000
}
