import type { AssignmentBoard } from './assignment-planner-board.js'
import { InstanceHeap } from './assignment-planner-heap.js'
import { NOBODY } from './assignment-planner-input.js'

/** All items that nobody holds and that may be given away: heaviest first, then those that fewest may run, then by name. */
export function unplacedItems(board: AssignmentBoard): number[] {
  const { holder, problem } = board
  const items: number[] = []
  holder.forEach((instance, item) => {
    if (instance === NOBODY && problem.pinned[item] === 0) items.push(item)
  })
  const choices = (item: number): number => problem.allowances[problem.groupOf[item] as number]?.instances.length ?? 0
  if (problem.isUniform && problem.allowances.length === 1) return items
  return items.sort((a, b) => board.weightOf(b) - board.weightOf(a) || choices(a) - choices(b) || a - b)
}

/**
 * Gives each item to the least loaded instance that may run it and has room. Returns those that found none. Heaviest first bounds the
 * imbalance, and filling the lowest first is what makes the moves afterwards the fewest possible.
 *
 * @param items as {@link unplacedItems} orders them.
 */
export function placeOnLeastLoaded(board: AssignmentBoard, items: readonly number[]): number[] {
  const { groupOf, allowances, preferred } = board.problem
  const searches = new Map<number, LeastLoaded>()
  return items.filter((item) => {
    const group = groupOf[item] as number
    let search = searches.get(group)
    if (!search) {
      search = new LeastLoaded(board, allowances[group]?.instances ?? [])
      searches.set(group, search)
    }
    const least = search.withRoomFor(board.weightOf(item))
    if (least === NOBODY) return true
    const wish = preferred[item] as number
    const isWishAsGood =
      wish !== NOBODY && board.mayRun(item, wish) && board.hasRoom(wish, board.weightOf(item)) && board.loadOf(wish) <= board.loadOf(least)
    board.put(item, isWishAsGood ? wish : least)
    return false
  })
}

/**
 * Finds the least loaded instance with room, for as long as loads only grow and weights only shrink. An entry may be out of date, and
 * then is too small, so the top is put right when it is looked at: several groups may share one board.
 */
class LeastLoaded {
  readonly #board: AssignmentBoard
  /** By load. */
  readonly #open = new InstanceHeap()
  /** Too full for the last weight; by room, largest first. */
  readonly #parked = new InstanceHeap()

  constructor(board: AssignmentBoard, instances: Iterable<number>) {
    this.#board = board
    for (const instance of instances) this.#open.push(instance, board.loadOf(instance))
  }

  withRoomFor(weight: number): number {
    while (this.#parked.top !== NOBODY && this.#board.hasRoom(this.#parked.top, weight)) {
      const instance = this.#parked.pop()
      this.#open.push(instance, this.#board.loadOf(instance))
    }
    for (let top = this.#open.top; top !== NOBODY; top = this.#open.top) {
      const load = this.#board.loadOf(top)
      if (this.#open.topKey < load) this.#open.changeTop(load)
      else if (this.#board.hasRoom(top, weight)) return top
      else this.#parked.push(this.#open.pop(), -this.#board.roomOf(top))
    }
    return NOBODY
  }
}
