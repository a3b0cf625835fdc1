import type { AssignmentPlan, AssignmentPlannerInput, PlannedInstance, PlannedMove, PlannedSubscription } from './assignment-planner.js'
import { stickyPlanner } from './assignment-planner-sticky.js'

/** Subscription to owner, ready to be the next `current`. */
export const ownersOf = ({ assignments }: AssignmentPlan): Map<string, string> =>
  new Map([...assignments].flatMap(([id, names]) => names.map((name) => [name, id] as const)))

/** How many each instance owns. */
export const sizesOf = ({ assignments }: AssignmentPlan): Record<string, number> =>
  Object.fromEntries([...assignments].map(([id, names]) => [id, names.length]))

/** The plan with its map as a list, so that order is compared too. */
export const plain = (result: AssignmentPlan) => ({ ...result, assignments: [...result.assignments] })

/** The moves that take something away from a listed owner. */
export const taken = (moves: readonly PlannedMove[]): PlannedMove[] =>
  moves.filter(({ reason }) => reason !== 'unowned' && reason !== 'owner_gone')

/** Subscriptions of weight 1 with these names. */
export const named = (...names: string[]): PlannedSubscription[] => names.map((name) => ({ name }))

/** That many subscriptions of weight 1: `s0`, `s1` and so on. */
export const numbered = (count: number, prefix = 's'): PlannedSubscription[] =>
  named(...Array.from({ length: count }, (_, i) => `${prefix}${i}`))

/** Instances that may own anything. */
export const called = (...ids: string[]): PlannedInstance[] => ids.map((instanceId) => ({ instanceId }))

/** A plan for this part of an input; the rest is empty. */
export const plan = (input: Partial<AssignmentPlannerInput>): AssignmentPlan =>
  stickyPlanner({ subscriptions: [], instances: [], current: new Map(), ...input })

/** Entries of a `current` in which one instance owns all of these. */
export const allTo = (id: string, subscriptions: readonly PlannedSubscription[]): [string, string][] =>
  subscriptions.map(({ name }) => [name, id])
