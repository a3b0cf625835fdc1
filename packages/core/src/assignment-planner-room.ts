import type { AssignmentBoard, Step } from './assignment-planner-board.js'
import { NOBODY } from './assignment-planner-input.js'

/** How many instances are looked at for each item, those with the most room first: so a plan costs little where there is no room anywhere. */
const MOST_TRIED = 32

/**
 * Gives items a place for which lighter ones make room by going where they fit. Returns those that found none; `items` keep their order.
 *
 * Best effort: the lightest item that suffices alone goes, or else several from the heaviest down, each to where it leaves the least room; and those do
 * not push others in turn. Equal weights need none of it.
 *
 * @param items as `unplacedItems` orders them.
 */
export function placeByMakingRoom(board: AssignmentBoard, items: readonly number[]): number[] {
  const { problem } = board
  if (problem.isUniform) return [...items]
  /** The least weight that found no place, by allowance group; what is heavier finds none either while the board is as it was. */
  const tooHeavy = new Map<number, number>()
  let held: readonly number[][] | null = null
  return items.filter((item) => {
    const weight = board.weightOf(item)
    const group = problem.groupOf[item] as number
    if (weight >= (tooHeavy.get(group) ?? Number.POSITIVE_INFINITY)) return true
    held ??= itemsByHolder(board)
    if (!makeRoom(board, item, held)) {
      tooHeavy.set(group, weight)
      return true
    }
    tooHeavy.clear()
    held = null
    return false
  })
}

function makeRoom(board: AssignmentBoard, item: number, held: readonly (readonly number[])[]): boolean {
  const { allowances, groupOf, owner } = board.problem
  const weight = board.weightOf(item)
  const instances = [...(allowances[groupOf[item] as number]?.instances ?? [])]
  instances.sort((a, b) => board.roomOf(b) - board.roomOf(a) || a - b)
  for (const instance of instances.slice(0, MOST_TRIED)) {
    const lighter = (held[instance] ?? []).filter((other) => board.weightOf(other) < weight)
    const steps = stepsFor(board, { instance, missing: weight - board.roomOf(instance), lighter })
    if (steps === null || !board.isWithinLimit(steps)) continue
    for (const { item: moved, to } of steps) {
      if (owner[moved] === instance) board.cause.set(moved, 'make_room')
      board.put(moved, to)
    }
    board.put(item, instance)
    return true
  }
  return false
}

interface Want {
  readonly instance: number
  /** How much room it lacks. */
  readonly missing: number
  /** What could go, lightest first. */
  readonly lighter: readonly number[]
}

function stepsFor(board: AssignmentBoard, { instance, missing, lighter }: Want): readonly Step[] | null {
  for (const item of lighter) {
    if (board.weightOf(item) < missing) continue
    const to = tightestFor(board, item, instance, NOTHING)
    if (to !== NOBODY) return [{ item, to }]
  }
  const steps: Step[] = []
  const added = new Map<number, number>()
  let freed = 0
  for (const item of lighter.toReversed()) {
    const weight = board.weightOf(item)
    if (weight >= missing) continue
    const to = tightestFor(board, item, instance, added)
    if (to === NOBODY) continue
    steps.push({ item, to })
    added.set(to, (added.get(to) ?? 0) + weight)
    freed += weight
    if (freed >= missing) return steps
  }
  return null
}

/** The instance other than `from` that may run `item` and has the least room that suffices, with what was `added` to it. */
function tightestFor(board: AssignmentBoard, item: number, from: number, added: ReadonlyMap<number, number>): number {
  const { allowances, groupOf } = board.problem
  let tightest = NOBODY
  let least = Number.POSITIVE_INFINITY
  for (const instance of allowances[groupOf[item] as number]?.instances ?? []) {
    const room = board.roomOf(instance) - (added.get(instance) ?? 0)
    if (instance === from || room < board.weightOf(item) || room >= least) continue
    tightest = instance
    least = room
  }
  return tightest
}

const NOTHING: ReadonlyMap<number, number> = new Map()

/** What each instance may give away, lightest first. */
function itemsByHolder({ holder, problem }: AssignmentBoard): number[][] {
  const held: number[][] = problem.ids.map(() => [])
  holder.forEach((instance, item) => {
    if (instance !== NOBODY && problem.pinned[item] === 0) held[instance]?.push(item)
  })
  for (const items of held) items.sort(problem.compare)
  return held
}
