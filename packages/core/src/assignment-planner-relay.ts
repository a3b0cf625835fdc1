import type { AssignmentBoard, Step } from './assignment-planner-board.js'
import { NOBODY } from './assignment-planner-input.js'

/** How an item of one weight can be passed on from each instance, hand to hand, to a less loaded one. */
interface Routes {
  /** Next instance by instance; NOBODY for an end, and for an instance without a way. */
  readonly next: Int32Array
  /** Allowance group of an item that can go to `next`. */
  readonly via: Int32Array
  /** Where the way ends; NOBODY for an instance without a way. The least loaded end that can be reached. */
  readonly end: Int32Array
  /** Hands on the way. */
  readonly hops: Int32Array
}

/**
 * What single moves cannot do where not everyone may run everything: `a` passes an item to `b` and `b` passes another of the same
 * weight to `c`. The load of `b` stays, so a chain is as good as one move from `a` to `c`. With equal weights this reaches the best
 * possible balance and the most items placed, as augmenting paths do in a bipartite matching; with unequal ones it is best effort.
 */
export class Relay {
  readonly #board: AssignmentBoard
  /** Movable items by weight, ascending; only weights in which chains can exist. */
  readonly #itemsOfWeight: ReadonlyMap<number, readonly number[]>

  constructor(board: AssignmentBoard) {
    this.#board = board
    this.#itemsOfWeight = chainableItems(board)
  }

  /** Evens out loads by chains until none helps. Returns whether anything moved. */
  balance(): boolean {
    let hasMoved = false
    for (const [weight, items] of this.#itemsOfWeight) {
      while (this.#balanceOnce(weight, items)) hasMoved = true
    }
    return hasMoved
  }

  /** Gives items a place that a chain makes free. Returns those that found none; `items` keep their order. */
  place(items: readonly number[]): number[] {
    const known = new Map<number, Routes>()
    const fresh = new Set<number>()
    return items.filter((item) => {
      const weight = this.#board.weightOf(item)
      const peers = this.#itemsOfWeight.get(weight)
      if (!peers) return true
      let routes = known.get(weight)
      let start = routes ? this.#shortest(item, routes) : NOBODY
      if (!fresh.has(weight) && !(routes && start !== NOBODY && this.#isOpen(start, weight, routes))) {
        routes = this.#routes(weight, peers)
        known.set(weight, routes)
        fresh.add(weight)
        start = this.#shortest(item, routes)
      }
      if (!routes || start === NOBODY || !this.#pass(start, weight, routes, 'make_room')) return true
      this.#board.put(item, start)
      fresh.clear()
      return false
    })
  }

  #balanceOnce(weight: number, items: readonly number[]): boolean {
    const board = this.#board
    const routes = this.#routes(weight, items)
    const gains = (start: number): boolean => {
      const end = routes.end[start] as number
      return end !== NOBODY && end !== start && board.isImprovement(weight, start, end)
    }
    const starts = board.problem.ids.map((_, instance) => instance).filter(gains)
    starts.sort((a, b) => board.loadOf(b) - board.loadOf(a) || a - b)
    let hasMoved = false
    for (const start of starts) {
      // Chains passed on before this one may have changed the loads, or taken an item that this one needs.
      if (gains(start) && this.#isOpen(start, weight, routes) && this.#pass(start, weight, routes)) hasMoved = true
    }
    return hasMoved
  }

  /** Searches backwards from the ends, the least loaded first, so that every instance gets the best end it can reach. */
  #routes(weight: number, items: readonly number[]): Routes {
    const board = this.#board
    const count = board.problem.ids.length
    const routes = {
      next: new Int32Array(count).fill(NOBODY),
      via: new Int32Array(count).fill(NOBODY),
      end: new Int32Array(count).fill(NOBODY),
      hops: new Int32Array(count),
    }
    const { holdersOf, groupsAllowing } = this.#edges(items)
    for (let rank = 0; rank < count; rank += 1) {
      const end = board.order.at(rank)
      if (routes.end[end] !== NOBODY || !board.hasRoom(end, weight)) continue
      routes.end[end] = end
      const reached = [end]
      for (const to of reached) {
        for (const group of groupsAllowing.get(to) ?? []) {
          const holders = holdersOf.get(group)
          if (!holders) continue
          // All holders of a group are reached at once, so it never has to be looked at again.
          holdersOf.delete(group)
          for (const from of holders) {
            if (routes.end[from] !== NOBODY) continue
            routes.next[from] = to
            routes.via[from] = group
            routes.end[from] = end
            routes.hops[from] = (routes.hops[to] as number) + 1
            reached.push(from)
          }
        }
      }
    }
    return routes
  }

  #edges(items: readonly number[]): { holdersOf: Map<number, Set<number>>; groupsAllowing: Map<number, number[]> } {
    const { groupOf, allowances } = this.#board.problem
    const holdersOf = new Map<number, Set<number>>()
    for (const item of items) {
      const holder = this.#board.holder[item] as number
      if (holder === NOBODY) continue
      const group = groupOf[item] as number
      const holders = holdersOf.get(group)
      if (holders) holders.add(holder)
      else holdersOf.set(group, new Set([holder]))
    }
    const groupsAllowing = new Map<number, number[]>()
    for (const group of holdersOf.keys()) {
      for (const instance of allowances[group]?.instances ?? []) {
        const groups = groupsAllowing.get(instance)
        if (groups) groups.push(group)
        else groupsAllowing.set(instance, [group])
      }
    }
    return { holdersOf, groupsAllowing }
  }

  /** The instance that may run `item` and needs the fewest hands to make room. */
  #shortest(item: number, { end, hops }: Routes): number {
    let shortest = NOBODY
    for (const instance of this.#board.problem.allowances[this.#board.problem.groupOf[item] as number]?.instances ?? []) {
      if (end[instance] === NOBODY) continue
      if (shortest === NOBODY || (hops[instance] as number) < (hops[shortest] as number)) shortest = instance
    }
    return shortest
  }

  /** Whether the way from `start` still exists, on a board that may have changed since the routes were found. */
  #isOpen(start: number, weight: number, { next, via, end }: Routes): boolean {
    for (let from = start; next[from] !== NOBODY; from = next[from] as number) {
      const stock = this.#board.stocksOf(from).get(via[from] as number)
      if (!stock?.guests.hasWeight(weight) && !stock?.own.hasWeight(weight)) return false
    }
    return this.#board.hasRoom(end[start] as number, weight)
  }

  /** Passes one item on at every hand of the way from `start`, which must be open. `false`, with nothing done, when the limit forbids it. */
  #pass(start: number, weight: number, { next, via }: Routes, cause?: 'make_room'): boolean {
    const board = this.#board
    const steps: Step[] = []
    for (let from = start; next[from] !== NOBODY; from = next[from] as number) {
      const stock = board.stocksOf(from).get(via[from] as number)
      const shelf = stock?.guests.hasWeight(weight) ? stock.guests : stock?.own
      const to = next[from] as number
      if (shelf) steps.push({ item: shelf.pickOfWeight(weight, from, to), to })
    }
    if (!board.isWithinLimit(steps)) return false
    for (const { item, to } of steps) {
      if (cause && board.problem.owner[item] === board.holder[item]) board.cause.set(item, cause)
      board.put(item, to)
    }
    return true
  }
}

function chainableItems(board: AssignmentBoard): Map<number, number[]> {
  const { weight, pinned, groupOf, allowances, compare, isUniform } = board.problem
  if (allowances.length < 2) return new Map()
  const items = Int32Array.from(weight, (_, item) => item)
  if (!isUniform) items.sort(compare)
  const byWeight = new Map<number, number[]>()
  for (const item of items) {
    if (pinned[item] === 1) continue
    const peers = byWeight.get(weight[item] as number)
    if (peers) peers.push(item)
    else byWeight.set(weight[item] as number, [item])
  }
  // Within one group everyone can pass to the end directly, which a single move does.
  return new Map([...byWeight].filter(([, peers]) => peers.some((item) => groupOf[item] !== groupOf[peers[0] as number])))
}
