import type { Finding } from './breach-log.js'
import { ownershipsOf } from './gap-rules.js'
import type { ParsedHistoryOptions } from './history-options.js'
import type { Spell } from './spell.js'
import type { Timeline } from './timeline.js'
import { formatTime, type SubscriptionRecord } from './timeline-book.js'

/** How often one subscription changed hands. */
export interface MoveResult {
  readonly findings: readonly Finding[]
  /** How often it was given another owner than the one before. */
  readonly moves: number
  /** How often an instance that stayed had given it away. */
  readonly voluntaryMoves: number
}

/**
 * H13: no move without a reason.
 *
 * Whoever takes a subscription that nobody had, or whose owner was killed, has lost it, or leaves, does what is needed. What remains is a subscription
 * that an instance gave away on its own account, while it stays. Each change of membership, fault, loss of claims and failed run may cause that
 * `movesPerChange` times for each subscription, within `changeLastsSeconds` (a failed run twice: away, and back). A move takes the oldest change that
 * still counts, so no other choice could excuse more.
 */
export function findNeedlessMoves(record: SubscriptionRecord, { changes, from }: Timeline, options: ParsedHistoryOptions): MoveResult {
  const { movesPerChange, changeLastsSeconds } = options
  const spells = ownershipsOf(record, options).toSorted((a, b) => a.from - b.from || a.until - b.until)
  const findings: Finding[] = []
  let [moves, voluntaryMoves] = [0, 0]
  // The oldest change that may count, and how many moves it has excused.
  let [oldest, excused] = [0, 0]
  for (const [index, spell] of spells.entries()) {
    const before = spells[index - 1]
    if (before === undefined) continue
    if (before.instanceId !== spell.instanceId) moves++
    if (!wasGivenAway(before)) continue
    voluntaryMoves++
    while (oldest < changes.length && (excused >= movesPerChange || (changes[oldest] as number) < before.until - changeLastsSeconds)) {
      oldest++
      excused = 0
    }
    if (oldest < changes.length && (changes[oldest] as number) <= spell.from) {
      excused++
      continue
    }
    findings.push({
      rule: 'needless_move',
      at: spell.from,
      subscription: record.name,
      indices: [...before.indices, spell.startIndex],
      message: [
        `${before.instanceId} gave ${record.name} away at ${formatTime(before.until, from)} and stayed, ${spell.instanceId} took it at ${formatTime(spell.from, from)},`,
        'and nothing had happened in the cluster that no earlier move accounts for',
      ].join(' '),
    })
  }
  return { findings, moves, voluntaryMoves }
}

function wasGivenAway({ ending, until, incarnation }: Spell): boolean {
  return ending === 'released' && until < incarnation.leavingAt
}
