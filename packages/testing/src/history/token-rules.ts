import type { Finding } from './breach-log.js'
import type { ParsedHistoryOptions } from './history-options.js'
import type { Spell } from './spell.js'
import type { Timeline } from './timeline.js'
import { formatTime } from './timeline-book.js'

/** H4: tokens grow. */
export function findTokensNotGrowing({ terms, subscriptions, from }: Timeline, { toleranceSeconds }: ParsedHistoryOptions): Finding[] {
  const judge = (spells: readonly Spell[], what: string): Finding[] =>
    notGrowing(spells, toleranceSeconds).map(([larger, spell]) => ({
      rule: 'token_not_growing',
      at: spell.from,
      subscription: spell.subscription,
      indices: [larger.startIndex, spell.startIndex],
      message: [
        `${spell.instanceId} got token ${spell.token} for ${what} at ${formatTime(spell.from, from)}`,
        `and ${larger.instanceId} had got ${larger.token === spell.token ? 'the same' : larger.token} at ${formatTime(larger.from, from)}`,
      ].join(', '),
    }))
  const findings = [judge(terms, 'its term')]
  for (const { name, claims } of subscriptions.values()) findings.push(judge(claims, name))
  return findings.flat()
}

/** Spells whose token is not larger than that of one which began before, each with that one. Which of two began first in one instant cannot be told. */
function notGrowing(spells: readonly Spell[], tolerance: number): [Spell, Spell][] {
  const found: [Spell, Spell][] = []
  const fenced = spells.filter(({ token }) => token !== null).sort((a, b) => a.from - b.from)
  const seen = new Map<bigint, Spell>()
  let largest: Spell | null = null
  let next = 0
  for (const spell of fenced) {
    for (let other = fenced[next]; other !== undefined && other.from < spell.from - tolerance; other = fenced[++next]) {
      if (largest === null || tokenOf(other) > tokenOf(largest)) largest = other
    }
    const same = seen.get(tokenOf(spell))
    if (same !== undefined) found.push([same, spell])
    else if (largest !== null && tokenOf(spell) < tokenOf(largest)) found.push([largest, spell])
    seen.set(tokenOf(spell), spell)
  }
  return found
}

function tokenOf({ token }: Spell): bigint {
  return token ?? 0n
}
