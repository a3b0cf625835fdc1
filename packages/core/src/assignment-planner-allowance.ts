import type { PlannedInstance } from './assignment-planner.js'

/** A set of instances, by index, that may run the same subscriptions. */
export class Allowance {
  /** Indexes of the instances in the set, ascending. */
  readonly instances: Int32Array
  /** Whether every instance is in the set. */
  readonly isUnrestricted: boolean
  readonly #bits: Uint32Array

  constructor(bits: Uint32Array, instanceCount: number) {
    this.#bits = bits
    const instances: number[] = []
    for (let instance = 0; instance < instanceCount; instance += 1) if (this.includes(instance)) instances.push(instance)
    this.instances = Int32Array.from(instances)
    this.isUnrestricted = instances.length === instanceCount
  }

  includes(instance: number): boolean {
    return (((this.#bits[instance >>> 5] ?? 0) >>> (instance & 31)) & 1) === 1
  }
}

/**
 * Groups subscriptions by the set of instances that may run them: `groupOf[i]` is the index in `allowances` for `names[i]`. Real
 * clusters have few groups however many subscriptions, so the planner reasons about groups and asks each `mayRun` once a name.
 */
export function groupByAllowance(
  names: readonly string[],
  instances: readonly PlannedInstance[],
): { readonly groupOf: Int32Array; readonly allowances: readonly Allowance[] } {
  const groupOf = new Int32Array(names.length)
  const everyone = new Uint32Array((instances.length + 31) >>> 5).fill(0xffffffff)
  const bits = [everyone]
  instances.forEach((instance, index) => {
    if (instance.mayRun) split(names, groupOf, bits, index, (name) => instance.mayRun?.(name) ?? true)
  })
  return { groupOf, allowances: bits.map((set) => new Allowance(set, instances.length)) }
}

/** Splits every group in those that `mayRun` and those that may not; a group of one answer keeps its index. */
function split(
  names: readonly string[],
  groupOf: Int32Array,
  bits: Uint32Array[],
  instance: number,
  mayRun: (subscription: string) => boolean,
): void {
  const yes = new Int32Array(bits.length).fill(-1)
  const no = new Int32Array(bits.length).fill(-1)
  for (let item = 0; item < names.length; item += 1) {
    const group = groupOf[item] as number
    const isAllowed = mayRun(names[item] as string)
    const mine = isAllowed ? yes : no
    if (mine[group] === -1) {
      const isFirst = (isAllowed ? no : yes)[group] === -1
      mine[group] = isFirst ? group : bits.push((bits[group] as Uint32Array).slice()) - 1
    }
    groupOf[item] = mine[group] as number
  }
  for (const group of no) {
    const set = bits[group]
    if (set) set[instance >>> 5] = (set[instance >>> 5] as number) & ~(1 << (instance & 31))
  }
}
