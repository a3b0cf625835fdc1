import type { Finding } from './breach-log.js'
import { lengthOf } from './calm.js'
import type { ParsedHistoryOptions } from './history-options.js'
import { piecesOf, type Span, type Spell } from './spell.js'
import type { Timeline } from './timeline.js'
import { formatTime, type SubscriptionRecord } from './timeline-book.js'

/** How long an owner, or a leader, was missing. */
export interface GapFigures {
  /** The longest time without, while an instance was there that could have been it. */
  readonly longestGap: Span
  /** The longest time without in which nothing was done to the cluster: what H8 and H9 compare with their bounds. */
  readonly longestRecovery: Span
}

/** What {@link findGaps} found. */
export interface GapResult {
  readonly findings: readonly Finding[]
  /** `null` where nobody was ever elected. */
  readonly leader: GapFigures | null
  /** By subscription. */
  readonly owner: ReadonlyMap<string, GapFigures>
}

/** The spells that make an owner, by their beginning. */
export function ownershipsOf({ claims, runs }: SubscriptionRecord, { ownedBy }: ParsedHistoryOptions): readonly Spell[] {
  return ownedBy === 'claim' ? claims : runs
}

/** H8 and H9: nothing stays without owner, nor the cluster without leader. */
export function findGaps(timeline: Timeline, options: ParsedHistoryOptions): GapResult {
  const { terms, subscriptions, events, from } = timeline
  const findings: Finding[] = []
  const leaderAffair: Affair = { rule: 'without_leader', subscription: null, maxSeconds: options.maxSecondsWithoutLeader, from }
  const leader = terms.length === 0 ? null : judge(leaderAffair, terms, timeline, findings)
  const owner = new Map<string, GapFigures>()
  for (const record of subscriptions.values()) {
    const affair: Affair = {
      rule: 'without_owner',
      subscription: record.name,
      maxSeconds: options.maxSecondsWithoutOwner,
      from: record.firstIndex < 0 ? from : (events[record.firstIndex]?.at ?? from),
    }
    owner.set(record.name, judge(affair, ownershipsOf(record, options), timeline, findings))
  }
  return { findings, leader, owner }
}

interface Affair {
  readonly rule: 'without_leader' | 'without_owner'
  readonly subscription: string | null
  readonly maxSeconds: number
  /** From when on somebody had to be it. */
  readonly from: number
}

interface Gap extends Span {
  /** The spells on either side. */
  readonly before: Spell | null
  readonly after: Spell | null
}

function judge(affair: Affair, spells: readonly Spell[], { calm, from, until }: Timeline, findings: Finding[]): GapFigures {
  let longestGap: Span = { from: affair.from, until: affair.from }
  let longestRecovery = longestGap
  for (const gap of gapsOf(spells, { from: affair.from, until })) {
    // It can neither be a breach nor the longest of anything.
    if (lengthOf(gap) <= Math.min(affair.maxSeconds, lengthOf(longestRecovery))) continue
    const { missing, recovery } = calm.measure(gap)
    if (lengthOf(missing) > lengthOf(longestGap)) longestGap = missing
    if (lengthOf(recovery) > lengthOf(longestRecovery)) longestRecovery = recovery
    if (lengthOf(recovery) > affair.maxSeconds) findings.push(findingOf(affair, gap, recovery, from))
  }
  return { longestGap, longestRecovery }
}

function findingOf({ rule, subscription, maxSeconds }: Affair, gap: Gap, recovery: Span, origin: number): Finding {
  const who = subscription === null ? 'The cluster was without leader' : `${subscription} was without owner`
  const before = gap.before === null ? '' : `, after ${gap.before.instanceId}`
  const after = gap.after === null ? 'the end of the history' : `${gap.after.instanceId} took it`
  return {
    rule,
    subscription,
    at: recovery.from + maxSeconds,
    indices: [...(gap.before?.indices ?? []), ...(gap.after === null ? [] : [gap.after.startIndex])],
    message: [
      `${who} from ${formatTime(gap.from, origin)}${before}, until ${after} at ${formatTime(gap.until, origin)}:`,
      `${lengthOf(recovery).toFixed(3)} s of it after the last change or fault, and ${maxSeconds} s are allowed`,
    ].join(' '),
  }
}

/** The times within `whole` that no spell covers. */
function* gapsOf(spells: readonly Spell[], whole: Span): Generator<Gap> {
  let covered = whole.from
  let before: Spell | null = null
  for (const { spell, from, until } of piecesOf(spells)) {
    if (from > covered) yield { from: covered, until: Math.min(from, whole.until), before, after: spell }
    if (until < covered && before !== null) continue
    covered = Math.max(covered, until)
    before = spell
  }
  if (whole.until > covered) yield { from: covered, until: whole.until, before, after: null }
}
