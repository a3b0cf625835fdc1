import { type AssignmentPlanner, stickyPlanner } from '@es/coordination-core'
import type { ClusterView, InstanceView } from './cluster-view.js'
import type { MembershipOptions } from './membership.js'
import type { PlanRoundOptions } from './plan-round.js'

/** An instance that is well, was heard just now, and claims what it runs. */
export function instance(instanceId: string, facts: Partial<InstanceView> = {}): InstanceView {
  return {
    instanceId,
    status: 'healthy',
    heardAt: 100,
    subscriptions: [],
    usesClaims: true,
    capacity: undefined,
    declined: new Set(),
    ...facts,
  }
}

/** A view of `instances` at second 100, from `a`; claims were looked at `holders`, if given, at second 99.5. */
export function view(
  instances: readonly InstanceView[],
  { holders, ...facts }: Partial<ClusterView> & { readonly holders?: Readonly<Record<string, string>> } = {},
): ClusterView {
  return {
    ...{ now: 100, selfId: 'a', instances, assigned: new Map(), pending: new Map(), homes: new Map(), toldAt: new Map(), told: new Set() },
    observation: holders === undefined ? null : { at: 99.5, holders: new Map(Object.entries(holders)) },
    ...facts,
  }
}

export const DAMPING: MembershipOptions = {
  crashGraceSeconds: 0.5,
  observeIntervalSeconds: 0.5,
  massLossHoldSeconds: 30,
  restartGraceSeconds: 0,
  settleSeconds: 2,
  heartbeatTimeoutSeconds: 15,
  declineSeconds: 60,
}

/** Options of a round for these subscriptions. */
export function roundOptions(
  names: readonly string[],
  options: Partial<PlanRoundOptions> & { readonly planner?: AssignmentPlanner } = {},
): PlanRoundOptions {
  return {
    ...DAMPING,
    subscriptions: names.map((name) => ({ name })),
    planner: stickyPlanner,
    maxMovesPerRound: Number.POSITIVE_INFINITY,
    ...options,
  }
}
