import {
  type AssignmentPlanner,
  type Clock,
  describeValue,
  invalidOption,
  type LeaderElector,
  type Logger,
  MAX_SUBSCRIPTIONS,
  type Ownership,
  type PlannedSubscription,
  requireClock,
  requireFunction,
  requireInteger,
  requireLeaderElector,
  requireLogger,
  requireMethods,
  requireName,
  requireOptions,
  requireSeconds,
  stickyPlanner,
  type Transport,
} from '@es/coordination-core'
import { guardedClock } from './guarded-clock.js'
import { safeSample } from './safe-sample.js'
import { MAX_WIRE_LENGTH, wireLength } from './wire-length.js'

/** What a run is given. */
export interface RunContext {
  /**
   * Aborts when the run should end: finish what is in flight, write the checkpoint, return. Its reason is a CoordinationError with the code
   * `run_revoked`, `run_stopping` or `run_lost`; after `run_lost` nothing may be written any more.
   */
  readonly signal: AbortSignal
  /**
   * Aborts when the claim is gone, also during a drain: stop at once and write nothing. Without an ownership adapter it aborts when this instance has
   * not even heard its own messages for so long that the others may take it for gone.
   */
  readonly lost: AbortSignal
  /** Number of the claim: store it with each checkpoint and refuse a smaller one. `null` without an ownership adapter. */
  readonly fencingToken: bigint | null
}

/**
 * Runs one subscription until `signal` aborts. Called anew for each claim: read the checkpoint inside, never keep one from an earlier run.
 * A run that throws, or that returns before it was told to, is started again after a pause.
 */
export type Run = (subscription: string, context: RunContext) => Promise<void>

/** Work of the leader alone. `signal` aborts when leadership is lost or to be handed over; `term` is the fencing token, `null` from an elector without. */
export type LeaderWork = (signal: AbortSignal, term: bigint | null) => Promise<void>

/** How a `CoordinatedWorker` is set up. All instances of a cluster should use the same timings and the same subscriptions. */
export interface CoordinatedWorkerOptions {
  /** Unique among the instances alive at one time. Keep it over restarts, so that work can come back to where it was. */
  readonly instanceId: string
  /** All subscriptions of the cluster, by name, or with a weight each. An instance is never given one that it does not list here. */
  readonly subscriptions: readonly (string | PlannedSubscription)[]
  readonly run: Run
  /** Decides who plans. Without fencing tokens, assignments of a former leader cannot be told from those of the present one. */
  readonly elector: LeaderElector
  /** Carries the messages to all instances, this one included if it can: an instance that does not hear itself knows that it hears nobody. */
  readonly transport: Transport
  /** Makes claims the law. Without it the worker is cooperative: a subscription runs here only once nobody else alive lists it. */
  readonly ownership?: Ownership
  /** Work that only the leader does, beside its subscriptions. Started anew in each term; if it throws it is logged and started again after a pause. */
  readonly leaderWork?: LeaderWork
  /**
   * Whether this instance may lead.
   * @default true
   */
  readonly mayLead?: boolean
  /**
   * Which of the subscriptions this instance may run.
   * @default all
   */
  readonly mayRun?: (subscription: string) => boolean
  /**
   * Most total weight this instance takes (the number of subscriptions, when they have no weights). What fits nowhere stays unassigned, and is reported.
   * @default no limit
   */
  readonly capacity?: number
  /** Events in flight, for the heartbeat. @default 0 */
  readonly inFlightCount?: () => number
  /** Load from 0 to 1, for the heartbeat. @default 0 */
  readonly loadFactor?: () => number
  /** Seconds between heartbeats. Changes are announced at once. At most a third of `heartbeatTimeoutSeconds`. @default 5 */
  readonly heartbeatIntervalSeconds?: number
  /** Silence after which a peer counts as gone, in seconds. @default 15 */
  readonly heartbeatTimeoutSeconds?: number
  /** How long a run has to end after it was told to, in seconds. Keep it below the time that the platform gives a process to end. @default 30 */
  readonly drainTimeoutSeconds?: number
  /** Seconds between attempts to lead, for an elector that cannot campaign, and between its renewals. @default 5 */
  readonly electionIntervalSeconds?: number
  /** How often the leader looks who holds what, in seconds: the time in which a crash is noticed. Only with an ownership adapter. @default 0.5 */
  readonly observeIntervalSeconds?: number
  /** How long an instance whose claims are all gone has time to be heard before it counts as crashed, in seconds. @default 0.5 */
  readonly crashGraceSeconds?: number
  /** How long the members must have been the same ones before work is moved only for balance, in seconds. @default 2 */
  readonly settleSeconds?: number
  /** How long the work of a gone instance waits for it to come back under the same id, in seconds. Longer saves moves, and leaves the work undone meanwhile. @default 0 */
  readonly restartGraceSeconds?: number
  /** How long work is held back after most instances fell silent at once, unless the claims prove it free, in seconds. @default twice heartbeatTimeoutSeconds */
  readonly massLossHoldSeconds?: number
  /**
   * How long a process that has just started listens before it plans, in seconds. Claims tell at once who holds what; instances of the reference
   * library claim nothing and are known only once heard, so next to those it should not be below `heartbeatTimeoutSeconds`.
   * @default settleSeconds with an ownership adapter, otherwise heartbeatTimeoutSeconds
   */
  readonly coldStartSeconds?: number
  /**
   * Most peers that are remembered, healthy or gone; when all are alive, new ones are ignored. A bound on what somebody who makes up instances can cost, so
   * well above the number of instances that there ever are.
   * @default 1000
   */
  readonly maxPeers?: number
  /**
   * Whether peers that send no incarnation are believed when they say what they run, without claiming it. Instances of the reference library are like that. Where
   * there are none, `false` makes the claims decide about everybody. Only with an ownership adapter.
   * @default true
   */
  readonly trustsClaimlessPeers?: boolean
  /** Most subscriptions taken from living owners in one round. @default no limit */
  readonly maxMovesPerRound?: number
  /** Rounds that the leader may fail in a row before it steps down. @default 3 */
  readonly maxFailedRounds?: number
  /** Failures of a run in a row after which this instance declines the subscription for `declineSeconds`, so that another one gets it. @default 5 */
  readonly maxRunFailures?: number
  /** How long a subscription that failed too often is declined, in seconds. @default 60 */
  readonly declineSeconds?: number
  /** Longest pause before a failed run is started again, in seconds; the first is about one second. @default 30 */
  readonly longestRunPauseSeconds?: number
  /** Time without a leader, or with one that is not heard, after which it is reported, in seconds. @default twice heartbeatTimeoutSeconds */
  readonly noLeaderWarningSeconds?: number
  /**
   * Leaves on SIGTERM and SIGINT; a second signal ends the process without waiting.
   * @default false
   */
  readonly handleSignals?: boolean
  /** Closed in this order at the end of `stop()`: the adapters, when nobody else uses them. @default none */
  readonly dispose?: readonly AsyncDisposable[]
  /**
   * Decides who should run what, see `AssignmentPlanner`; only the leader's is asked. A round in which it throws, or breaks its rules (`invalid_plan`), counts
   * as failed: it is logged, and what was assigned before stays.
   * @default stickyPlanner
   */
  readonly planner?: AssignmentPlanner
  /** Names this life of the instance. Must differ between restarts. @default random */
  readonly incarnation?: string
  /** @default systemClock */
  readonly clock?: Clock
  /** @default consoleLogger, which prints warnings and errors */
  readonly logger?: Logger
  /** Jitter, in [0, 1). @default Math.random */
  readonly random?: () => number
}

type Optional = 'ownership' | 'leaderWork' | 'capacity'

/** The options with their defaults, checked. */
export type ParsedWorkerOptions = Omit<Required<CoordinatedWorkerOptions>, Optional | 'subscriptions'> & {
  readonly subscriptions: readonly PlannedSubscription[]
  readonly ownership: Ownership | null
  readonly leaderWork: LeaderWork | null
  readonly capacity: number | undefined
}

/** Longest duration of any option: a day. Longer ones are slips of a unit. */
export const LONGEST_SECONDS = 86_400
// Shorter intervals keep a process busy with nothing else.
const SHORTEST_INTERVAL_SECONDS = 0.01

/** @throws CoordinationError `invalid_options` naming the option, its value and the rule. */
export function parseWorkerOptions(options: CoordinatedWorkerOptions): ParsedWorkerOptions {
  const instanceId = requireName('instanceId', requireOptions(options).instanceId)
  requireMethods('transport', options.transport, ['publish', 'subscribe', 'onResync'])
  const ownership = options.ownership ?? null
  if (ownership !== null) {
    requireMethods('ownership', ownership, ['claim', 'release', 'observe'])
    if (ownership.instanceId !== instanceId) {
      throw invalidOption('ownership.instanceId', ownership.instanceId, `the worker's instanceId, which is ${describeValue(instanceId)}`)
    }
  }
  const mayLead = requireFlag('mayLead', options.mayLead ?? true)
  const leaderWork = options.leaderWork === undefined ? null : requireFunction('leaderWork', options.leaderWork)
  if (leaderWork !== null && !mayLead) throw invalidOption('mayLead', mayLead, 'true when there is leaderWork')
  const logger = requireLogger(options.logger)
  const clock = guardedClock(requireClock(options.clock), logger)
  const sample = (name: 'inFlightCount' | 'loadFactor'): (() => number) =>
    safeSample(name, requireFunction(name, options[name] ?? (() => 0)), { clock, logger, instanceId })
  return {
    ...parseTimings(options, ownership !== null),
    ...{ instanceId, ownership, leaderWork, mayLead, logger },
    subscriptions: parseSubscriptions(options.subscriptions),
    run: requireFunction('run', options.run),
    elector: requireLeaderElector('elector', options.elector),
    transport: options.transport,
    mayRun: requireFunction('mayRun', options.mayRun ?? (() => true)),
    capacity: options.capacity === undefined ? undefined : requireCapacity(options.capacity),
    inFlightCount: sample('inFlightCount'),
    loadFactor: sample('loadFactor'),
    maxMovesPerRound:
      options.maxMovesPerRound === undefined
        ? Number.POSITIVE_INFINITY
        : requireInteger('maxMovesPerRound', options.maxMovesPerRound, { atLeast: 1 }),
    maxPeers: requireInteger('maxPeers', options.maxPeers ?? 1000, { atLeast: 1 }),
    trustsClaimlessPeers: requireFlag('trustsClaimlessPeers', options.trustsClaimlessPeers ?? true),
    maxFailedRounds: requireInteger('maxFailedRounds', options.maxFailedRounds ?? 3, { atLeast: 1 }),
    maxRunFailures: requireInteger('maxRunFailures', options.maxRunFailures ?? 5, { atLeast: 1 }),
    handleSignals: requireFlag('handleSignals', options.handleSignals ?? false),
    dispose: parseDispose(options.dispose ?? []),
    planner: requireFunction('planner', options.planner ?? stickyPlanner),
    incarnation: requireName('incarnation', options.incarnation ?? globalThis.crypto.randomUUID()),
    clock,
    random: requireFunction('random', options.random ?? Math.random),
  }
}

function parseTimings(options: CoordinatedWorkerOptions, hasOwnership: boolean) {
  // A default is not checked: it may follow from another option, and blaming one that nobody set would not help.
  const from = (atLeast: number, name: keyof CoordinatedWorkerOptions, fallback: number): number =>
    options[name] === undefined ? fallback : requireSeconds(name, options[name], { atLeast, atMost: LONGEST_SECONDS })
  const interval = (name: keyof CoordinatedWorkerOptions, fallback: number): number => from(SHORTEST_INTERVAL_SECONDS, name, fallback)
  const time = (name: keyof CoordinatedWorkerOptions, fallback: number): number => from(0, name, fallback)
  const heartbeatIntervalSeconds = interval('heartbeatIntervalSeconds', 5)
  const heartbeatTimeoutSeconds = interval('heartbeatTimeoutSeconds', 15)
  // Two heartbeats may get lost. With room for a rounding: three times 0.1 is more than 0.3.
  if (heartbeatIntervalSeconds * 3 > heartbeatTimeoutSeconds * (1 + 1e-9)) {
    const rule = `at most ${heartbeatTimeoutSeconds / 3}, a third of heartbeatTimeoutSeconds, which is ${heartbeatTimeoutSeconds}`
    throw invalidOption('heartbeatIntervalSeconds', heartbeatIntervalSeconds, rule)
  }
  const settleSeconds = time('settleSeconds', 2)
  return {
    heartbeatIntervalSeconds,
    heartbeatTimeoutSeconds,
    settleSeconds,
    drainTimeoutSeconds: time('drainTimeoutSeconds', 30),
    electionIntervalSeconds: interval('electionIntervalSeconds', 5),
    observeIntervalSeconds: interval('observeIntervalSeconds', 0.5),
    crashGraceSeconds: time('crashGraceSeconds', 0.5),
    restartGraceSeconds: time('restartGraceSeconds', 0),
    massLossHoldSeconds: time('massLossHoldSeconds', heartbeatTimeoutSeconds * 2),
    coldStartSeconds: time('coldStartSeconds', hasOwnership ? settleSeconds : heartbeatTimeoutSeconds),
    declineSeconds: interval('declineSeconds', 60),
    longestRunPauseSeconds: interval('longestRunPauseSeconds', 30),
    noLeaderWarningSeconds: interval('noLeaderWarningSeconds', heartbeatTimeoutSeconds * 2),
  }
}

function parseSubscriptions(subscriptions: CoordinatedWorkerOptions['subscriptions']): PlannedSubscription[] {
  if (!Array.isArray(subscriptions)) throw invalidOption('subscriptions', subscriptions, 'a list of names')
  // More do not fit into one heartbeat or assignment, and one instance may have to run them all.
  if (subscriptions.length > MAX_SUBSCRIPTIONS)
    throw invalidOption('subscriptions.length', subscriptions.length, `at most ${MAX_SUBSCRIPTIONS}`)
  const names = new Set<string>()
  let [length, total] = [0, 0]
  const parsed = subscriptions.map((subscription: string | PlannedSubscription) => {
    const { name, weight = 1 } = typeof subscription === 'string' ? { name: subscription } : requireOptions(subscription)
    if (names.has(requireName('a subscription name', name))) throw invalidOption('subscriptions', name, 'free of repeated names')
    if (!(typeof weight === 'number' && weight > 0 && Number.isFinite(weight))) {
      throw invalidOption(`the weight of subscription ${describeValue(name)}`, weight, 'a finite number above 0')
    }
    names.add(name)
    length += wireLength(name)
    total += weight
    return { name, weight }
  })
  if (total === Number.POSITIVE_INFINITY) throw invalidOption('the sum of all weights', total, 'finite: divide them all by the same factor')
  // The one instance that is left may have to list them all.
  if (length > MAX_WIRE_LENGTH) throw invalidOption('the length of all subscription names', length, `at most ${MAX_WIRE_LENGTH} in all`)
  return parsed
}

function parseDispose(resources: readonly AsyncDisposable[]): readonly AsyncDisposable[] {
  if (!Array.isArray(resources)) throw invalidOption('dispose', resources, 'a list of resources')
  for (const resource of resources as readonly (Partial<AsyncDisposable> | null | undefined)[]) {
    if (typeof resource?.[Symbol.asyncDispose] !== 'function')
      throw invalidOption('dispose', resource, 'a list of resources with Symbol.asyncDispose')
  }
  return [...resources]
}

function requireCapacity(value: number): number {
  if (typeof value === 'number' && value >= 0 && Number.isFinite(value)) return value
  throw invalidOption('capacity', value, 'a finite number of at least 0')
}

function requireFlag(name: string, value: boolean): boolean {
  if (typeof value === 'boolean') return value
  throw invalidOption(name, value, 'true or false')
}
