import type { AssignmentPlannerInput, PlannedInstance, PlannedSubscription } from './assignment-planner.js'
import { type Allowance, groupByAllowance } from './assignment-planner-allowance.js'
import {
  describeValue,
  invalidOption,
  isName,
  NAME_RULE,
  requireFunction,
  requireInteger,
  requireMethods,
  requireOptions,
} from './options.js'

/** "No such instance" where an instance is an index. */
export const NOBODY = -1

/**
 * The input as numbers. Subscriptions ("items") and instances are indexes into `names` and `ids`, which are sorted by code units: from
 * here on the order in which the caller listed them, and the locale of the machine, cannot matter.
 */
export interface PlannerProblem {
  readonly names: readonly string[]
  readonly ids: readonly string[]
  /** Owner in `current` by item; {@link NOBODY} when there is none or it is not listed. */
  readonly owner: Int32Array
  /** Preferred instance by item, or {@link NOBODY}. */
  readonly preferred: Int32Array
  /** 1 for an item that must stay where it is. */
  readonly pinned: Uint8Array
  /** Index into `allowances` by item. */
  readonly groupOf: Int32Array
  readonly allowances: readonly Allowance[]
  /** Weight by item, rounded so that sums are exact: see {@link exactWeights}. */
  readonly weight: Float64Array
  /** Largest load by instance, tolerance included, and exact like the weights. */
  readonly ceiling: Float64Array
  /** Loads this far apart are even enough. No more than the heaviest weight, so equal weights have no use for it. */
  readonly slack: number
  readonly maxMoves: number
  /** Total order of items: by weight, then preferred instance, then name. Zero only for an item and itself. */
  readonly compare: (a: number, b: number) => number
  /** Whether {@link compare} is the order of the indexes. */
  readonly isUniform: boolean
}

/** Part of the mean load. With unequal weights the last bit of balance would cost most of the moves. */
const EVEN_ENOUGH = 0.05
const CAPACITY_TOLERANCE = 1e-9

/** Checks the input and turns it into numbers. @throws CoordinationError with code `invalid_options`. */
export function readPlannerInput(input: AssignmentPlannerInput): PlannerProblem {
  const { subscriptions, instances, current, maxMoves = Number.POSITIVE_INFINITY, pinned, preferred } = requireOptions(input)
  requireMethods('current', current, ['get'])
  if (pinned !== undefined) requireMethods('pinned', pinned, ['get', 'has'])
  if (preferred !== undefined) requireMethods('preferred', preferred, ['get'])
  if (maxMoves !== Number.POSITIVE_INFINITY) requireInteger('maxMoves', maxMoves)
  const sortedSubscriptions = sortedUnique('subscription name', subscriptions, ({ name }) => name, makerOfAlike)
  const sortedInstances = sortedUnique('instanceId', instances, ({ instanceId }) => instanceId)
  const names = sortedSubscriptions.map(({ name }) => name)
  const ids = sortedInstances.map(({ instanceId }) => instanceId)
  for (const { mayRun } of sortedInstances) if (mayRun !== undefined) requireFunction('mayRun', mayRun)
  const indexOf = new Map(ids.map((id, index) => [id, index]))
  // Not with `from`, which takes the way of an iterator, at twice the cost.
  const indexIn = (map: ReadonlyMap<string, string>): Int32Array =>
    new Int32Array(names.length).map((_, item) => indexOf.get(map.get(names[item] as string) as string) ?? NOBODY)

  const { weight, unit } = exactWeights(sortedSubscriptions)
  const total = weight.reduce((sum, value) => sum + value, 0)
  const heaviest = weight.reduce((most, value) => Math.max(most, value), 0)
  const preferredOf = preferred && preferred.size > 0 ? indexIn(preferred) : new Int32Array(names.length).fill(NOBODY)
  return {
    names,
    ids,
    owner: indexIn(current),
    preferred: preferredOf,
    pinned: pinned ? Uint8Array.from(names, (name) => Number(pinned.has(name))) : new Uint8Array(names.length),
    ...groupByAllowance(names, sortedInstances),
    weight,
    ceiling: Float64Array.from(sortedInstances, (instance) => ceilingOf(instance, total, unit)),
    slack: Math.min(heaviest, EVEN_ENOUGH * (total / ids.length)),
    maxMoves,
    compare: (a, b) => (weight[a] as number) - (weight[b] as number) || (preferredOf[a] as number) - (preferredOf[b] as number) || a - b,
    isUniform: weight.every((value) => value === weight[0]) && preferredOf.every((value) => value === NOBODY),
  }
}

/** @param makerOf what makes the value of a key, if all values are alike: that is cheaper than to look each up again. */
function sortedUnique<T>(
  what: string,
  values: readonly T[],
  keyOf: (value: T) => string,
  makerOf: (values: readonly T[]) => ((key: string) => T) | null = () => null,
): readonly T[] {
  if (!Array.isArray(values)) throw invalidOption(`the list with every ${what}`, values, 'an array')
  for (const value of values)
    if (typeof value !== 'object' || value === null) throw invalidOption(`what has the ${what}`, value, 'an object')
  const keys = values.map(keyOf)
  const unnamed = keys.findIndex((key) => !isName(key))
  if (unnamed !== -1) throw invalidOption(`every ${what}`, keys[unnamed], NAME_RULE)
  const isSorted = keys.every((key, index) => index === 0 || (keys[index - 1] as string) < key)
  // Half of the cost of a large plan is sorting, and most callers keep their lists sorted.
  if (isSorted) return values
  const make = makerOf(values)
  const byKey = new Map<string, T>()
  if (make === null) for (const value of values) byKey.set(keyOf(value), value)
  // Without a comparator, strings sort by UTF-16 code units: the same on every machine, unlike any locale's order.
  keys.sort()
  const repeated = keys.find((key, index) => index > 0 && keys[index - 1] === key)
  if (repeated !== undefined) throw invalidOption(`every ${what}`, repeated, 'unique: list each one once')
  return keys.map(make ?? ((key) => byKey.get(key) as T))
}

/** Makes a subscription of its name, when all of `subscriptions` have the same weight. */
function makerOfAlike(subscriptions: readonly PlannedSubscription[]): ((name: string) => PlannedSubscription) | null {
  const weight = subscriptions[0]?.weight
  if (subscriptions.some((subscription) => subscription.weight !== weight)) return null
  return weight === undefined ? (name) => ({ name }) : (name) => ({ name, weight })
}

/**
 * The weights, rounded to multiples of a power of two so large that no sum of them is ever rounded (an error below one part in 10^15 of
 * the total). Otherwise the same load could come out different by the order of its additions, and a finished plan would move again.
 */
function exactWeights(subscriptions: readonly PlannedSubscription[]): { weight: Float64Array; unit: number } {
  const weights = new Float64Array(subscriptions.length).map((_, item) => {
    const { name, weight = 1 } = subscriptions[item] as PlannedSubscription
    if (typeof weight === 'number' && weight > 0 && Number.isFinite(weight)) return weight
    throw invalidOption(`the weight of subscription ${describeValue(name)}`, weight, 'a finite number above 0 (leave it out for 1)')
  })
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  if (total === Number.POSITIVE_INFINITY) throw invalidOption('the sum of all weights', total, 'finite: divide them all by the same factor')
  if (Number.isSafeInteger(total) && weights.every(Number.isInteger)) return { weight: weights, unit: 1 }
  const unit = Math.max(2 ** (Math.floor(Math.log2(total)) - 50), Number.MIN_VALUE)
  return { weight: weights.map((weight) => Math.max(Math.round(weight / unit), 1) * unit), unit }
}

function ceilingOf({ instanceId, capacity = Number.POSITIVE_INFINITY }: PlannedInstance, total: number, unit: number): number {
  if (typeof capacity === 'number' && capacity >= 0) {
    const ceiling = capacity * (1 + CAPACITY_TOLERANCE)
    // Above the total it never binds, and might be too large to be a multiple of the unit.
    return ceiling > total ? Number.POSITIVE_INFINITY : Math.floor(ceiling / unit) * unit
  }
  const rule = 'a number of at least 0 (leave it out for no limit)'
  throw invalidOption(`the capacity of instance ${describeValue(instanceId)}`, capacity, rule)
}
