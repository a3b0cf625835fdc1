import type { Finding } from './breach-log.js'
import type { ParsedHistoryOptions } from './history-options.js'
import type { HistoryRule } from './history-rules.js'
import { piecesOf, type Spell, type SpellPiece } from './spell.js'
import type { Timeline } from './timeline.js'
import { formatTime } from './timeline-book.js'

/** H1, H2 and H3: one at a time. */
export function findOverlaps({ terms, subscriptions, from }: Timeline, { toleranceSeconds }: ParsedHistoryOptions): Finding[] {
  const judge = (rule: HistoryRule, spells: readonly Spell[], verb: string, what: string): Finding[] =>
    overlaps(piecesOf(spells), toleranceSeconds).map(([earlier, later]) => ({
      rule,
      at: later.from,
      subscription: later.spell.subscription,
      indices: [...earlier.spell.indices, later.spell.startIndex],
      message: [
        `${later.spell.instanceId} ${verb} ${what}${tokenText(later.spell)} at ${formatTime(later.from, from)}`,
        `while ${earlier.spell.instanceId} did${tokenText(earlier.spell)}, from ${formatTime(earlier.from, from)} until ${formatTime(earlier.until, from)}`,
      ].join(' '),
    }))
  const findings = [judge('two_leaders', terms, 'led', 'the cluster')]
  for (const { name, claims, runs } of subscriptions.values()) {
    findings.push(judge('two_owners', claims, 'held the claim on', name), judge('two_runs', runs, 'ran', name))
  }
  return findings.flat()
}

/**
 * Each piece that overlaps by more than `tolerance` with an earlier one of another instance, with the one of those that ends last. Pieces that
 * only touch do not overlap.
 */
function overlaps(pieces: readonly SpellPiece[], tolerance: number): [SpellPiece, SpellPiece][] {
  const found: [SpellPiece, SpellPiece][] = []
  let last: SpellPiece | null = null
  // The one that ends last among those of other instances than `last`.
  let lastOfOthers: SpellPiece | null = null
  for (const piece of pieces) {
    const rival: SpellPiece | null = last?.spell.instanceId === piece.spell.instanceId ? lastOfOthers : last
    // Without tolerance even a spell of no length inside another's counts.
    const both = tolerance > 0 && rival !== null ? Math.min(rival.until, piece.until) : rival?.until
    if (rival !== null && both !== undefined && both - piece.from > tolerance) found.push([rival, piece])
    if (last === null || piece.until >= last.until) {
      if (last !== null && last.spell.instanceId !== piece.spell.instanceId) lastOfOthers = last
      last = piece
    } else if (last.spell.instanceId !== piece.spell.instanceId && (lastOfOthers === null || piece.until > lastOfOthers.until)) {
      lastOfOthers = piece
    }
  }
  return found
}

function tokenText({ token }: Spell): string {
  return token === null ? '' : ` under token ${token}`
}
