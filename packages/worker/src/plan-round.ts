import type { AssignmentPlan, AssignmentPlanner, AssignmentPlannerInput, PlannedInstance, PlannedSubscription } from '@es/coordination-core'
import { type ClusterView, findHoldings, type InstanceView } from './cluster-view.js'
import { listed } from './listed.js'
import { decideMembership, type Membership, type MembershipMemory, type MembershipOptions } from './membership.js'
import { checkPlan } from './plan-check.js'

/** How rounds of planning are damped. */
export interface PlanRoundOptions extends MembershipOptions {
  readonly subscriptions: readonly PlannedSubscription[]
  readonly planner: AssignmentPlanner
  /** Most subscriptions taken from a living owner in one round. */
  readonly maxMovesPerRound: number
}

/** What a round decided. */
export interface PlanRound {
  /** The plan; `null` while the leader has to listen first. */
  readonly plan: AssignmentPlan | null
  /** What each member should run now: its part of the plan, without what another one has not let go of yet. */
  readonly assignments: ReadonlyMap<string, readonly string[]>
  /** Why something is held back, for a person to read. */
  readonly held: readonly string[]
  /** Monotonic time at which to decide again even if nothing happens; `null` for none. */
  readonly againAt: number | null
  readonly membership: Membership
}

const LOST_TOGETHER = 'Its owner fell silent together with most others'

/**
 * One round of the leader's work: from what is known of the cluster to what everybody should run. Pure.
 *
 * - P1. Nobody steals: what another instance still holds, or may begin at any moment, is assigned to nobody else; its holder is told to let go, and the new owner is
 *   told once it has.
 * - P2. A holder that is not heard keeps what it holds.
 * - P3. What has no owner is given away at once; moves for balance wait until the membership has settled.
 * - P4. A leader that has just started listens first, until `listensUntil` (monotonic).
 * - P5. Who takes nothing of what it is given is given nothing, see {@link decideTrials}.
 *
 * @throws what the planner throws.
 * @throws CoordinationError `invalid_plan` when its plan cannot be used.
 */
export function planRound(view: ClusterView, options: PlanRoundOptions, before: MembershipMemory, listensUntil: number): PlanRound {
  const { now, instances, assigned, homes } = view
  const membership = decideMembership(view, options, before)
  if (now < listensUntil) {
    return {
      plan: null,
      assignments: new Map(),
      held: ['This leader is new and listens first'],
      againAt: listensUntil,
      membership,
    }
  }

  const { holderOf, silentHolders } = findHoldings(view)
  // A look at the claims proves that what such an instance does not hold is free.
  const claimants = new Set(
    view.observation === null ? [] : instances.filter(({ usesClaims }) => usesClaims).map(({ instanceId }) => instanceId),
  )
  const current = new Map<string, string>()
  const pinned = new Map<string, string>()
  const preferred = new Map<string, string>()
  for (const { name } of options.subscriptions) {
    const holder = holderOf.get(name)
    const owner = holder ?? assigned.get(name)
    if (owner === undefined) continue
    preferred.set(name, homes.get(name) ?? owner)
    const reason = holder === undefined ? whyOwnerIsAwaited(owner, membership, claimants.has(owner)) : whyHolderKeeps(holder, silentHolders)
    if (reason !== null) pinned.set(name, reason)
    if (holder !== undefined || reason !== null || membership.members.has(owner)) current.set(name, owner)
  }

  const isSettled = now >= membership.settledAt
  const input: AssignmentPlannerInput = {
    subscriptions: options.subscriptions,
    instances: instances
      .filter(({ instanceId }) => membership.members.has(instanceId))
      .map((instance) => asPlanned(instance, membership, options)),
    current,
    pinned,
    preferred,
    maxMoves: isSettled ? options.maxMovesPerRound : 0,
  }
  const plan = checkPlan(options.planner(input), input)
  const held: string[] = []
  if (!isSettled && plan.movesHeldBack) held.push('The members changed a moment ago; moves for balance wait until they have settled')
  if ([...pinned.values()].includes(LOST_TOGETHER)) held.push(`Most instances fell silent at once: ${listed([...membership.lostTogether])}`)
  const failed = [...membership.trials.failures.keys()].filter((instanceId) => membership.members.has(instanceId))
  if (failed.length > 0)
    held.push(`These take nothing of what they are told to run, and newcomers are tried one at a time meanwhile: ${listed(failed)}`)

  const assignments = new Map<string, readonly string[]>()
  for (const [instanceId, subscriptions] of plan.assignments) {
    assignments.set(
      instanceId,
      subscriptions.filter((name) => (holderOf.get(name) ?? instanceId) === instanceId),
    )
  }
  const { deadlines } = membership
  return { plan, assignments, held, againAt: deadlines.length > 0 ? Math.min(...deadlines) : null, membership }
}

function asPlanned({ instanceId, capacity, declined }: InstanceView, { trials }: Membership, options: PlanRoundOptions): PlannedInstance {
  const limits = [capacity, trials.barred.has(instanceId) ? 0 : undefined, trials.onTrial === instanceId ? lightest(options) : undefined]
  const limit = Math.min(...limits.filter((one) => one !== undefined))
  return {
    instanceId,
    ...(limit === Number.POSITIVE_INFINITY ? {} : { capacity: limit }),
    mayRun: (subscription) => !declined.has(subscription),
  }
}

function lightest({ subscriptions }: PlanRoundOptions): number {
  return subscriptions.reduce((least, { weight = 1 }) => Math.min(least, weight), Number.POSITIVE_INFINITY)
}

function whyOwnerIsAwaited(owner: string, { members, mayReturn, lostTogether }: Membership, isProvenFree: boolean): string | null {
  if (members.has(owner)) return null
  if (lostTogether.has(owner) && !isProvenFree) return LOST_TOGETHER
  return mayReturn.has(owner) ? `${owner} may come back under the same id` : null
}

function whyHolderKeeps(holder: string, silentHolders: ReadonlySet<string>): string | null {
  return silentHolders.has(holder) ? `${holder} holds it, but is not heard` : null
}
