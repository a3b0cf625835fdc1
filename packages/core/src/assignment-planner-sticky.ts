import type { AssignmentPlan, AssignmentPlanner, AssignmentPlannerInput, MoveReason, PlannedMove } from './assignment-planner.js'
import { balance } from './assignment-planner-balance.js'
import { AssignmentBoard } from './assignment-planner-board.js'
import { NOBODY, readPlannerInput } from './assignment-planner-input.js'
import { placeOnLeastLoaded, unplacedItems } from './assignment-planner-placement.js'
import { Relay } from './assignment-planner-relay.js'
import { placeByMakingRoom } from './assignment-planner-room.js'

/**
 * The default planner: everything stays where it is unless a move makes the loads more equal.
 *
 * - Hard rules: pins, then exclusions and capacities. What fits nowhere is unassigned, with the reason.
 * - Equal weights, no capacities, exclusions or pins: the numbers per instance differ by at most one, and no plan with such numbers moves
 *   fewer subscriptions.
 * - Weights: without capacities, exclusions and pins, any two loads differ by at most the heaviest weight; more exactly, a load exceeds the
 *   smallest one by at most its own lightest subscription, or by 5 % of the mean load if that is more. It moves, and does not swap.
 * - Equal weights with capacities and exclusions: as many as possible are owned, and their numbers are as equal as possible (the sum of
 *   the squares is minimal). Unequal weights with either: best effort. Lighter ones make room for what fits nowhere, but no packing is searched.
 * - Stable: planning again with the result as `current` moves nothing. Under `maxMoves`, planning again until
 *   {@link AssignmentPlan.movesHeldBack} is false ends in the same guarantees.
 * - Deterministic: the order of the input, and the locale, change nothing. Neither does anything outside the input.
 *
 * Cost: about `n log k` for `n` subscriptions on `k` instances, plus one `mayRun` call a subscription and restricting instance; a step
 * of balance costs up to `k` a group of subscriptions with the same exclusions, so use few distinct groups when there are many instances.
 *
 * @throws CoordinationError with code `invalid_options` for an empty or repeated name or id, a weight that is not a finite number above
 * 0, a capacity below 0 or not a number, or a `maxMoves` that is not a whole number of at least 0 (or Infinity).
 */
export const stickyPlanner: AssignmentPlanner = (input) => {
  const board = new AssignmentBoard(readPlannerInput(input))
  const relay = new Relay(board)
  let unplaced = unplacedItems(board)
  for (let isSettled = false; !isSettled; ) {
    const before = unplaced.length
    if (unplaced.length > 0) unplaced = placeOnLeastLoaded(board, unplaced)
    if (unplaced.length > 0) unplaced = relay.place(unplaced)
    if (unplaced.length > 0) unplaced = placeByMakingRoom(board, unplaced)
    const hasMoved = evenOut(board, relay)
    // What moved may have left room for what did not fit, and what was placed may have tipped the balance.
    isSettled = unplaced.length === 0 || (unplaced.length === before && !hasMoved)
  }
  return describe(board, input)
}

function evenOut(board: AssignmentBoard, relay: Relay): boolean {
  let hasMoved = balance(board)
  while (relay.balance()) {
    hasMoved = true
    balance(board)
  }
  return hasMoved
}

function describe(board: AssignmentBoard, { current, pinned }: AssignmentPlannerInput): AssignmentPlan {
  const { names, ids, owner, groupOf, allowances, pinned: isPinned } = board.problem
  const assigned: string[][] = ids.map(() => [])
  const moves: PlannedMove[] = []
  const unassigned: AssignmentPlan['unassigned'][number][] = []
  const left: AssignmentPlan['pinned'][number][] = []
  names.forEach((subscription, item) => {
    const holder = board.holder[item] as number
    const from = ids[owner[item] as number] ?? current.get(subscription) ?? null
    const to = ids[holder] ?? null
    assigned[holder]?.push(subscription)
    if (isPinned[item] === 1) {
      left.push(Object.freeze({ subscription, instanceId: from, reason: pinned?.get(subscription) as string }))
      return
    }
    if (from !== to) moves.push(Object.freeze({ subscription, from, to, reason: reasonOf(board, item, from) }))
    if (holder !== NOBODY) return
    const isAllowed = (allowances[groupOf[item] as number]?.instances.length ?? 0) > 0
    const reason = ids.length === 0 ? 'no_instance' : isAllowed ? 'no_capacity' : 'not_allowed_anywhere'
    unassigned.push(Object.freeze({ subscription, reason }))
  })
  return Object.freeze({
    assignments: new Map(ids.map((id, instance) => [id, Object.freeze(assigned[instance] as string[])])),
    moves: Object.freeze(moves),
    unassigned: Object.freeze(unassigned),
    pinned: Object.freeze(left),
    movesHeldBack: board.movesHeldBack,
  })

  function reasonOf(state: AssignmentBoard, item: number, from: string | null): MoveReason {
    if (from === null) return 'unowned'
    if (owner[item] === NOBODY) return 'owner_gone'
    return state.cause.get(item) ?? 'balance'
  }
}
