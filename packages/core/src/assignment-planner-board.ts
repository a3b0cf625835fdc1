import type { MoveReason } from './assignment-planner.js'
import { NOBODY, type PlannerProblem } from './assignment-planner-input.js'
import { LoadOrder } from './assignment-planner-load-order.js'
import { Shelf } from './assignment-planner-shelf.js'

/** One item on its way to an instance. */
export interface Step {
  readonly item: number
  readonly to: number
}

/** What one instance holds of one allowance group and may give away. */
interface Stock {
  /** New here in this plan: giving them away takes nothing from a listed owner. */
  readonly guests: Shelf
  /** Here already before this plan: giving one away is a move. */
  readonly own: Shelf
}

// A step must gain more than this part of the weight it moves, or rounding in the user's weights (0.1 + 0.2 against 0.3) would move things.
const LEAST_GAIN = 1e-9

/**
 * The plan under way: who holds what, and how loaded everyone is.
 *
 * - I1. `load` is exactly the sum of the weights at each instance, in whatever order they came (see `exactWeights`).
 * - I2. No instance is above its ceiling, except by pinned items.
 * - I3. Items that are not at their listed owner never outnumber the larger of `maxMoves` and what the hard rules displaced, but for a
 *   single chain of steps that is longer and alone in its plan.
 */
export class AssignmentBoard {
  readonly problem: PlannerProblem
  /** Instance by item, or NOBODY. */
  readonly holder: Int32Array
  /** Why an item was taken from its listed owner, where it was not for balance. */
  readonly cause = new Map<number, MoveReason>()
  /** Total weight by instance. */
  readonly load: Float64Array
  /** Whether the limit on moves kept an improvement from happening. */
  movesHeldBack = false

  /** How many items are not at their listed owner. */
  #displaced = 0
  #limit: number
  #order: LoadOrder | undefined
  #stocks: Map<number, Stock>[] | undefined

  constructor(problem: PlannerProblem) {
    this.problem = problem
    this.holder = new Int32Array(problem.names.length).fill(NOBODY)
    this.load = new Float64Array(problem.ids.length)
    this.#limit = problem.maxMoves
    this.#keep()
    this.#evict()
    this.#limit = Math.max(problem.maxMoves, this.#displaced)
  }

  /** Instances by load, kept up to date from the first time it is asked for. */
  get order(): LoadOrder {
    this.#order ??= new LoadOrder(this.load)
    return this.#order
  }

  weightOf(item: number): number {
    return this.problem.weight[item] as number
  }

  loadOf(instance: number): number {
    return this.load[instance] as number
  }

  mayRun(item: number, instance: number): boolean {
    return this.problem.allowances[this.problem.groupOf[item] as number]?.includes(instance) ?? false
  }

  hasRoom(instance: number, weight: number): boolean {
    return this.loadOf(instance) + weight <= (this.problem.ceiling[instance] as number)
  }

  roomOf(instance: number): number {
    return (this.problem.ceiling[instance] as number) - this.loadOf(instance)
  }

  /** Whether moving `weight` from one instance to the other makes their loads more equal, and is worth it. */
  isImprovement(weight: number, from: number, to: number): boolean {
    const gap = this.loadOf(from) - this.loadOf(to)
    return gap > this.problem.slack && gap - weight > weight * LEAST_GAIN
  }

  /**
   * Whether the limit allows these steps, which belong together; notes it when not. Alone in a plan they may be more than the limit, or what
   * only helps as a whole would never be done.
   */
  isWithinLimit(steps: readonly Step[]): boolean {
    const extra = steps.reduce((sum, { item, to }) => sum + this.#extraDisplaced(item, to), 0)
    const isAlone = this.#displaced === 0 && this.problem.maxMoves > 0
    const isWithin = extra <= 0 || isAlone || this.#displaced + extra <= this.#limit
    if (!isWithin) this.movesHeldBack = true
    return isWithin
  }

  /** Puts `item` to `instance`, from wherever it is. */
  put(item: number, instance: number): void {
    this.#displaced += this.#extraDisplaced(item, instance)
    const from = this.holder[item] as number
    if (from !== NOBODY) {
      this.#shelfOf(item, from)?.remove(item)
      this.#setLoad(from, this.loadOf(from) - this.weightOf(item))
    }
    this.holder[item] = instance
    this.#setLoad(instance, this.loadOf(instance) + this.weightOf(item))
    this.#shelfOf(item, instance)?.add(item)
  }

  /** What `instance` may give away, by allowance group. */
  stocksOf(instance: number): ReadonlyMap<number, Stock> {
    return this.#allStocks()[instance] as Map<number, Stock>
  }

  #extraDisplaced(item: number, instance: number): number {
    const owner = this.problem.owner[item] as number
    if (owner === NOBODY) return 0
    return Number(instance !== owner) - Number(this.holder[item] !== owner)
  }

  #setLoad(instance: number, load: number): void {
    if (this.#order) this.#order.change(instance, load)
    else this.load[instance] = load
  }

  #keep(): void {
    const { owner, pinned } = this.problem
    owner.forEach((instance, item) => {
      if (instance === NOBODY) return
      if (pinned[item] === 1 || this.mayRun(item, instance)) {
        this.holder[item] = instance
        this.load[instance] = this.loadOf(instance) + this.weightOf(item)
      } else {
        this.#displaced += 1
        this.cause.set(item, 'not_allowed')
      }
    })
  }

  /** Takes the fewest items from every instance above its ceiling: the heaviest ones, and at last the lightest that suffices. */
  #evict(): void {
    const overloaded = new Map<number, number[]>()
    this.load.forEach((_, instance) => {
      if (!this.hasRoom(instance, 0)) overloaded.set(instance, [])
    })
    if (overloaded.size === 0) return
    this.holder.forEach((instance, item) => {
      if (this.problem.pinned[item] === 0) overloaded.get(instance)?.push(item)
    })
    for (const [instance, items] of overloaded) {
      items.sort(this.problem.compare)
      while (items.length > 0 && !this.hasRoom(instance, 0)) {
        const heaviest = items.pop() as number
        const suffices = (item: number): boolean => this.hasRoom(instance, -this.weightOf(item))
        const item = suffices(heaviest) ? (items.find(suffices) ?? heaviest) : heaviest
        this.holder[item] = NOBODY
        this.load[instance] = this.loadOf(instance) - this.weightOf(item)
        this.#displaced += 1
        this.cause.set(item, 'over_capacity')
      }
    }
  }

  #allStocks(): Map<number, Stock>[] {
    if (this.#stocks) return this.#stocks
    this.#stocks = this.problem.ids.map(() => new Map())
    const items = Int32Array.from(this.holder, (_, item) => item)
    // In the order of the shelves, so that each item goes to the end of one.
    if (!this.problem.isUniform) items.sort(this.problem.compare)
    for (const item of items) if (this.holder[item] !== NOBODY) this.#shelfOf(item, this.holder[item] as number)?.add(item)
    return this.#stocks
  }

  /** Where `item` is or would be at `instance`; undefined for what cannot be given away, and while nobody has asked for stocks. */
  #shelfOf(item: number, instance: number): Shelf | undefined {
    const stocks = this.#stocks?.[instance]
    if (!stocks || this.problem.pinned[item] === 1) return undefined
    const group = this.problem.groupOf[item] as number
    let stock = stocks.get(group)
    if (!stock) {
      stock = { guests: new Shelf(this.problem), own: new Shelf(this.problem) }
      stocks.set(group, stock)
    }
    return this.problem.owner[item] === instance ? stock.own : stock.guests
  }
}
