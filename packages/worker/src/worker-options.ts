import {
  type AssignmentPlanner,
  type Clock,
  consoleLogger,
  invalidOption,
  type LeaderElector,
  type Logger,
  missingLeaderElectorMembers,
  type Ownership,
  type PlannedSubscription,
  requireInteger,
  requireName,
  requireOrder,
  requireSeconds,
  safeLogger,
  stickyPlanner,
  systemClock,
  type Transport,
} from '@es/coordination-core'

/** What a run is given. */
export interface RunContext {
  readonly subscription: string
  /**
   * Aborts when the run should end: finish what is in flight, write the checkpoint, return. Its reason is a CoordinationError with the code
   * `run_revoked`, `run_stopping` or `run_lost`; after `run_lost` nothing may be written any more.
   */
  readonly signal: AbortSignal
  /** Aborts when the claim is gone, also during a drain: stop at once and write nothing. Never aborts without an ownership adapter. */
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
  readonly elector: LeaderElector
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
  /** How long a process that has just started listens before it plans, in seconds. @default settleSeconds with an ownership adapter, otherwise heartbeatTimeoutSeconds */
  readonly coldStartSeconds?: number
  /** Most subscriptions taken from living owners in one round. @default no limit */
  readonly maxMovesPerRound?: number
  /** Rounds that the leader may fail in a row before it steps down. @default 3 */
  readonly maxFailedRounds?: number
  /** Failures of a run in a row after which this instance declines the subscription for `declineSeconds`, so that another one gets it. @default 5 */
  readonly maxRunFailures?: number
  /** @default 60 */
  readonly declineSeconds?: number
  /** Longest pause before a failed run is started again, in seconds; the first is about one second. @default 30 */
  readonly longestRetrySeconds?: number
  /** Time without a leader, or with one that is not heard, after which it is reported, in seconds. @default twice heartbeatTimeoutSeconds */
  readonly noLeaderWarningSeconds?: number
  /**
   * Leaves on SIGTERM and SIGINT; a second signal ends the process without waiting.
   * @default false
   */
  readonly handleSignals?: boolean
  /** Closed in this order at the end of `stop()`: the adapters, when nobody else uses them. @default none */
  readonly dispose?: readonly AsyncDisposable[]
  /** @default stickyPlanner */
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

/** @throws CoordinationError `invalid_options` naming the option, its value and the rule. */
export function parseWorkerOptions(options: CoordinatedWorkerOptions): ParsedWorkerOptions {
  const missing = missingLeaderElectorMembers(options.elector)
  if (missing.length > 0) throw invalidOption('elector', options.elector, `a LeaderElector; this one lacks ${missing.join(', ')}`)
  const seconds = (name: keyof CoordinatedWorkerOptions, fallback: number, mayBeZero = false): number =>
    requireSeconds(name, options[name] ?? fallback, mayBeZero ? { atLeast: 0, atMost: 86_400 } : { above: 0, atMost: 86_400 })
  const heartbeatIntervalSeconds = seconds('heartbeatIntervalSeconds', 5)
  const heartbeatTimeoutSeconds = seconds('heartbeatTimeoutSeconds', 15)
  requireOrder(
    { name: 'heartbeatIntervalSeconds', value: heartbeatIntervalSeconds },
    { name: 'heartbeatTimeoutSeconds / 3', value: heartbeatTimeoutSeconds / 3 },
    { orEqual: true },
  )
  const settleSeconds = seconds('settleSeconds', 2, true)
  const ownership = options.ownership ?? null
  if (ownership !== null && ownership.instanceId !== options.instanceId) {
    throw invalidOption('ownership.instanceId', ownership.instanceId, `the worker's instanceId, which is ${options.instanceId}`)
  }
  const mayLead = options.mayLead ?? true
  if (options.leaderWork && !mayLead) throw invalidOption('mayLead', mayLead, 'true when there is leaderWork')
  return {
    instanceId: requireName('instanceId', options.instanceId),
    subscriptions: parseSubscriptions(options.subscriptions),
    run: requireFunction('run', options.run),
    elector: options.elector,
    transport: options.transport,
    ownership,
    leaderWork: options.leaderWork ?? null,
    mayLead,
    mayRun: options.mayRun ?? (() => true),
    capacity: options.capacity === undefined ? undefined : requireCapacity(options.capacity),
    inFlightCount: options.inFlightCount ?? (() => 0),
    loadFactor: options.loadFactor ?? (() => 0),
    heartbeatIntervalSeconds,
    heartbeatTimeoutSeconds,
    drainTimeoutSeconds: seconds('drainTimeoutSeconds', 30, true),
    electionIntervalSeconds: seconds('electionIntervalSeconds', 5),
    observeIntervalSeconds: seconds('observeIntervalSeconds', 0.5),
    crashGraceSeconds: seconds('crashGraceSeconds', 0.5, true),
    settleSeconds,
    restartGraceSeconds: seconds('restartGraceSeconds', 0, true),
    massLossHoldSeconds: seconds('massLossHoldSeconds', heartbeatTimeoutSeconds * 2, true),
    coldStartSeconds: seconds('coldStartSeconds', ownership === null ? heartbeatTimeoutSeconds : settleSeconds, true),
    maxMovesPerRound: options.maxMovesPerRound === undefined ? Number.POSITIVE_INFINITY : requireInteger('maxMovesPerRound', options.maxMovesPerRound, { atLeast: 1 }),
    maxFailedRounds: requireInteger('maxFailedRounds', options.maxFailedRounds ?? 3, { atLeast: 1 }),
    maxRunFailures: requireInteger('maxRunFailures', options.maxRunFailures ?? 5, { atLeast: 1 }),
    declineSeconds: seconds('declineSeconds', 60),
    longestRetrySeconds: seconds('longestRetrySeconds', 30),
    noLeaderWarningSeconds: seconds('noLeaderWarningSeconds', heartbeatTimeoutSeconds * 2),
    handleSignals: options.handleSignals ?? false,
    dispose: options.dispose ?? [],
    planner: options.planner ?? stickyPlanner,
    incarnation: requireName('incarnation', options.incarnation ?? globalThis.crypto.randomUUID()),
    clock: options.clock ?? systemClock,
    logger: safeLogger(options.logger ?? consoleLogger),
    random: options.random ?? Math.random,
  }
}

function parseSubscriptions(subscriptions: CoordinatedWorkerOptions['subscriptions']): PlannedSubscription[] {
  if (!Array.isArray(subscriptions)) throw invalidOption('subscriptions', subscriptions, 'a list of names')
  const parsed = subscriptions.map((subscription: string | PlannedSubscription) => (typeof subscription === 'string' ? { name: subscription } : subscription))
  const names = new Set<string>()
  for (const { name } of parsed) {
    if (names.has(requireName('a subscription name', name))) throw invalidOption('subscriptions', name, 'free of repeated names')
    names.add(name)
  }
  return parsed
}

function requireCapacity(value: number): number {
  if (typeof value === 'number' && value >= 0 && Number.isFinite(value)) return value
  throw invalidOption('capacity', value, 'a finite number of at least 0')
}

function requireFunction<T>(name: string, value: T): T {
  if (typeof value === 'function') return value
  throw invalidOption(name, value, 'a function')
}
