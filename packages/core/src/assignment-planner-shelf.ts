import type { PlannerProblem } from './assignment-planner-input.js'

/** Items in the order of {@link PlannerProblem.compare}: lightest first. */
export class Shelf {
  readonly #problem: PlannerProblem
  readonly #items: number[] = []

  constructor(problem: PlannerProblem) {
    this.#problem = problem
  }

  get isEmpty(): boolean {
    return this.#items.length === 0
  }

  /** Weight of the lightest item; Infinity when there is none. */
  get lightest(): number {
    return this.#weightAt(0)
  }

  hasWeight(weight: number): boolean {
    return this.#weightAt(this.#countBelow(weight)) === weight
  }

  add(item: number): void {
    const last = this.#items.at(-1)
    if (last === undefined || this.#problem.compare(last, item) < 0) this.#items.push(item)
    else this.#items.splice(this.#find(item), 0, item)
  }

  remove(item: number): void {
    if (this.#items.at(-1) === item) this.#items.pop()
    else this.#items.splice(this.#find(item), 1)
  }

  /**
   * The item to give to instance `to`: the heaviest of at most `limit`, else the lightest. Among equal weights one that prefers
   * `to`, and otherwise rather one that does not prefer to stay at `from`. The shelf must not be empty.
   */
  pick(limit: number, from: number, to: number): number {
    const last = this.#items.length - 1
    const atMostLimit = this.#weightAt(last) <= limit ? last : this.#countUpTo(limit) - 1
    return this.pickOfWeight(this.#weightAt(Math.max(atMostLimit, 0)), from, to)
  }

  /** Like {@link pick}, of exactly this weight, which must be on the shelf. */
  pickOfWeight(weight: number, from: number, to: number): number {
    const last = this.#items.length - 1
    const end = this.#weightAt(last) === weight ? last : this.#countUpTo(weight) - 1
    const { preferred } = this.#problem
    const candidate = this.#items[end] as number
    if (this.#problem.isUniform || preferred[candidate] === to) return candidate
    const homing = this.#items[this.#countWhere((item) => this.#isBefore(item, weight, to))]
    if (homing !== undefined && this.#problem.weight[homing] === weight && preferred[homing] === to) return homing
    if (preferred[candidate] !== from) return candidate
    const beforeStaying = this.#items[this.#countWhere((item) => this.#isBefore(item, weight, from)) - 1]
    return beforeStaying !== undefined && this.#problem.weight[beforeStaying] === weight ? beforeStaying : candidate
  }

  #isBefore(item: number, weight: number, preferred: number): boolean {
    const difference = (this.#problem.weight[item] as number) - weight || (this.#problem.preferred[item] as number) - preferred
    return difference < 0
  }

  #weightAt(position: number): number {
    const item = this.#items[position]
    return item === undefined ? Number.POSITIVE_INFINITY : (this.#problem.weight[item] as number)
  }

  #find(item: number): number {
    return this.#countWhere((other) => this.#problem.compare(other, item) < 0)
  }

  #countBelow(weight: number): number {
    return this.#countWhere((item) => (this.#problem.weight[item] as number) < weight)
  }

  #countUpTo(weight: number): number {
    return this.#countWhere((item) => (this.#problem.weight[item] as number) <= weight)
  }

  /** How many leading items satisfy `holds`, which must be true for a leading part only. */
  #countWhere(holds: (item: number) => boolean): number {
    let low = 0
    let high = this.#items.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (holds(this.#items[middle] as number)) low = middle + 1
      else high = middle
    }
    return low
  }
}
