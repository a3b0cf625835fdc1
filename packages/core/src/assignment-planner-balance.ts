import type { AssignmentBoard, Step } from './assignment-planner-board.js'
import { NOBODY } from './assignment-planner-input.js'
import type { Shelf } from './assignment-planner-shelf.js'

/**
 * Moves single items from more to less loaded instances until no such move makes two loads more equal. Whether one exists depends on
 * who holds what alone, so a second plan finds nothing left to do. Returns whether anything moved.
 *
 * Ends: every step lowers the sum of the squared loads. Few steps: what moves is as large as it may be without overshooting the mean.
 */
export function balance(board: AssignmentBoard): boolean {
  const count = board.problem.ids.length
  if (count < 2) return false
  const lightest = board.problem.weight.reduce((least, weight) => Math.min(least, weight), Number.POSITIVE_INFINITY)
  if (!board.isImprovement(lightest, board.order.at(count - 1), board.order.at(0))) return false

  const mean = board.load.reduce((sum, load) => sum + load, 0) / count
  let hasMoved = false
  for (let hasMovedInPass = true; hasMovedInPass; ) {
    hasMovedInPass = false
    // A move may open a way for an instance that had none, so the flags hold for one pass only.
    const hasNoStep = new Uint8Array(count)
    for (let rank = count - 1; rank > 0; ) {
      const from = board.order.at(rank)
      const step = hasNoStep[from] === 1 ? undefined : nextStep(board, from, mean)
      if (step) {
        board.put(step.item, step.to)
        hasNoStep[step.to] = 0
        hasMovedInPass = true
        rank = count - 1
      } else {
        hasNoStep[from] = 1
        rank -= 1
      }
    }
    hasMoved ||= hasMovedInPass
  }
  return hasMoved
}

function nextStep(board: AssignmentBoard, from: number, mean: number): Step | undefined {
  // What came in with this plan goes first, because that takes nothing from anyone.
  const free = bestStep(board, from, mean, 'guests')
  if (free) return free
  const move = bestStep(board, from, mean, 'own')
  return move && board.isWithinLimit([move]) ? move : undefined
}

/** The step to the least loaded instance that any item on these shelves can go to. */
function bestStep(board: AssignmentBoard, from: number, mean: number, shelf: 'guests' | 'own'): Step | undefined {
  let best: { shelf: Shelf; to: number } | undefined
  for (const [group, stock] of board.stocksOf(from)) {
    if (stock[shelf].isEmpty) continue
    const to = leastLoadedFor(board, from, group, stock[shelf].lightest)
    if (to === NOBODY) continue
    if (!best || isLess(board, to, best.to) || (to === best.to && stock[shelf].lightest < best.shelf.lightest))
      best = { shelf: stock[shelf], to }
  }
  if (!best) return undefined
  const { to } = best
  const surplus = board.loadOf(from) - mean
  const deficit = mean - board.loadOf(to)
  const wanted = surplus > 0 && deficit > 0 ? Math.min(surplus, deficit) : (surplus + deficit) / 2
  return { item: best.shelf.pick(Math.min(wanted, board.roomOf(to)), from, to), to }
}

/** The least loaded instance of the group that `weight` fits on, if going there is an improvement. */
function leastLoadedFor(board: AssignmentBoard, from: number, group: number, weight: number): number {
  const allowance = board.problem.allowances[group]
  if (!allowance) return NOBODY
  if (!allowance.isUnrestricted) {
    let least = NOBODY
    for (const to of allowance.instances) {
      if (!board.isImprovement(weight, from, to) || !board.hasRoom(to, weight)) continue
      if (least === NOBODY || isLess(board, to, least)) least = to
    }
    return least
  }
  for (let rank = 0; rank < board.problem.ids.length; rank += 1) {
    const to = board.order.at(rank)
    if (!board.isImprovement(weight, from, to)) return NOBODY
    if (board.hasRoom(to, weight)) return to
  }
  return NOBODY
}

function isLess(board: AssignmentBoard, a: number, b: number): boolean {
  return (board.loadOf(a) - board.loadOf(b) || a - b) < 0
}
