/**
 * Decides which instance should own which subscription. A pure function, and a strategy: the worker calls whatever it was given,
 * and {@link stickyPlanner} is the default. A planner of your own must return every subscription in exactly one of
 * {@link AssignmentPlan.assignments}, {@link AssignmentPlan.unassigned} and {@link AssignmentPlan.pinned} with no listed owner, and
 * the same plan for the same input in any order, because two leaders may plan one after the other.
 */
export type AssignmentPlanner = (input: AssignmentPlannerInput) => AssignmentPlan

/** What a planner is told. Nothing in it is changed, and nothing in it is kept. */
export interface AssignmentPlannerInput {
  /** All work there is. Names are unique and not empty. */
  readonly subscriptions: readonly PlannedSubscription[]
  /**
   * Who may be given work now. Ids are unique and not empty. Leave out whoever must get nothing new: an instance that drains, is
   * stale or has terminated. What it still owns is then planned for someone else, unless it is in {@link pinned}.
   */
  readonly instances: readonly PlannedInstance[]
  /** Who owns what now, subscription to instance id. May name instances and subscriptions that are not listed. */
  readonly current: ReadonlyMap<string, string>
  /**
   * Most subscriptions that one plan takes away from a listed owner. What has no listed owner is always given one, and what its
   * owner may not run, or has no capacity for, is always taken away; the latter count against the limit all the same. A low limit
   * spreads a rebalance over several plans; 0 forbids it. A chain of moves that only helps as a whole is never cut: one that is longer than
   * the limit has a plan to itself.
   * @default Infinity
   */
  readonly maxMoves?: number
  /**
   * Subscriptions to leave where they are, each with the reason to show, such as `holder not heard from yet`. One without an owner
   * stays without. Outranks capacity and {@link PlannedInstance.mayRun}; what a listed owner holds counts as its load.
   */
  readonly pinned?: ReadonlyMap<string, string>
  /**
   * Where a subscription would rather be, for instance the owner it had before that one restarted. Only chooses among equally good
   * plans: it never costs balance, nor a further move. Unknown names are ignored.
   */
  readonly preferred?: ReadonlyMap<string, string>
}

/** A unit of work to be owned. */
export interface PlannedSubscription {
  readonly name: string
  /**
   * How much work it is, in any unit that all subscriptions share; finite and above 0.
   * @default 1
   */
  readonly weight?: number
}

/** An instance that may own work. */
export interface PlannedInstance {
  readonly instanceId: string
  /**
   * Most total weight it may own, never exceeded; compared with a tolerance of one part in 10^9, so that ten times 0.1 fits 1. It is a
   * ceiling and not a share: below their ceilings a large and a small instance get the same load.
   * @default Infinity
   */
  readonly capacity?: number
  /**
   * Whether it may own `subscription`; everything when left out. Must answer the same for the same name during one plan. Called at most
   * once a subscription, in no particular order; what it throws ends the planning.
   */
  readonly mayRun?: (subscription: string) => boolean
}

/** What should be. Plain and frozen, except that a `Map` cannot be frozen. */
export interface AssignmentPlan {
  /** The full set of every listed instance, also an empty one; keys and sets in code-unit order. */
  readonly assignments: ReadonlyMap<string, readonly string[]>
  /** What changes hands compared with `current`, in code-unit order of the subscription. */
  readonly moves: readonly PlannedMove[]
  /** What nobody can own, with the reason, in code-unit order. Worth a warning each. */
  readonly unassigned: readonly UnassignedSubscription[]
  /** What was left alone because it is pinned, in code-unit order. */
  readonly pinned: readonly PinnedSubscription[]
  /** Whether `maxMoves` kept an improvement from this plan: plan again once its moves are done. */
  readonly movesHeldBack: boolean
}

/**
 * Why a subscription changes hands:
 * `unowned` nobody had it · `owner_gone` its owner is not listed · `not_allowed` its owner may not run it · `over_capacity` its owner
 * has too much · `make_room` it gives way to one that fits nowhere else · `balance` to even out the load.
 */
export type MoveReason = 'unowned' | 'owner_gone' | 'not_allowed' | 'over_capacity' | 'make_room' | 'balance'

/** One subscription that changes hands. */
export interface PlannedMove {
  readonly subscription: string
  /** The owner in `current`, listed or not; null when it had none. */
  readonly from: string | null
  /** The new owner; null when it is taken away and fits nowhere. */
  readonly to: string | null
  readonly reason: MoveReason
}

/** Why nobody can own a subscription: no instance at all, none that may run it, or none with room for its weight. */
export type UnassignedReason = 'no_instance' | 'not_allowed_anywhere' | 'no_capacity'

/** One subscription without an owner. */
export interface UnassignedSubscription {
  readonly subscription: string
  readonly reason: UnassignedReason
}

/** One subscription that the plan left alone. */
export interface PinnedSubscription {
  readonly subscription: string
  /** Its owner in `current`; null when it has none. It is part of `assignments` only when this owner is a listed instance. */
  readonly instanceId: string | null
  /** The reason given in the input. */
  readonly reason: string
}
