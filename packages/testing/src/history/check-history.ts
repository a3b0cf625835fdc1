import { CoordinationError, describeValue } from '@es/coordination-core'
import { BreachLog, type HistoryBreach } from './breach-log.js'
import { lengthOf } from './calm.js'
import { findGaps, type GapFigures } from './gap-rules.js'
import type { HistoryEvent } from './history-event.js'
import { HISTORY_FIELDS } from './history-fields.js'
import { type HistoryCheckOptions, parseHistoryOptions } from './history-options.js'
import { sortHistory } from './history-order.js'
import { findNeedlessMoves } from './move-rules.js'
import { findOverlaps } from './overlap-rules.js'
import { findLostEvents } from './position-rules.js'
import type { Span } from './spell.js'
import { readTimeline, type Timeline } from './timeline.js'
import { findTokensNotGrowing } from './token-rules.js'
import { findStaleWrites } from './write-rules.js'

/** What {@link checkHistory} found. */
export interface HistoryReport {
  /** Whether there is no breach. */
  readonly holds: boolean
  /** In the order of time; at most `maxBreaches`. */
  readonly breaches: readonly HistoryBreach[]
  /** All of them. */
  readonly breachCount: number
  readonly figures: HistoryFigures
}

/** The history in numbers. */
export interface HistoryFigures {
  readonly events: number
  /** When the first event was, on the clock of the history: what the times in messages count from. */
  readonly startedAt: number
  readonly durationSeconds: number
  readonly instances: number
  readonly terms: number
  /** How often each kind of fault happened, crashes and pauses included. */
  readonly faults: ReadonlyMap<string, number>
  /** `null` where nobody was ever elected. */
  readonly leader: HistoryGapFigures | null
  /** In the order in which they appeared. */
  readonly subscriptions: readonly SubscriptionFigures[]
}

/** How long an owner or leader was missing, at most. */
export interface HistoryGapFigures {
  /** While an instance was there that could have been it. */
  readonly longestGapSeconds: number
  /** When that began, on the clock of the history; `null` when there was no gap. */
  readonly longestGapAt: number | null
  /** While nothing was done to the cluster: what it took to recover from a change or fault. Compared with the bound. */
  readonly longestRecoverySeconds: number
}

/** One subscription in numbers. */
export interface SubscriptionFigures extends HistoryGapFigures {
  readonly subscription: string
  readonly claims: number
  readonly runs: number
  /** How often it was given another owner than the one before. */
  readonly moves: number
  /** How often an instance that stayed gave it away: what H13 asks a reason for. */
  readonly voluntaryMoves: number
  readonly checkpoints: number
  readonly applied: number
  /** Writes that the store refused. */
  readonly refusals: number
  /** The last checkpoint; 0 for none. */
  readonly lastPosition: number
}

/**
 * Judges a recorded history by the rules of `HISTORY_RULES`, and reports every breach with the events around it. A pure function; takes n log n for n
 * events. They may come in any order, but what one instance recorded must come in its own; several recordings are put together by `mergeHistories`.
 *
 * It believes what was recorded: a recorder that leaves out what happened proves nothing. Events of one instant are given the benefit of the doubt, so
 * a coarse clock hides faults and never invents them.
 *
 * @throws CoordinationError `invalid_options` for an option that is off.
 * @throws CoordinationError `invalid_history` for an event of no known type, or with a time or position that is no number: it would hide what it is about.
 */
export function checkHistory(history: readonly HistoryEvent[], options: HistoryCheckOptions = {}): HistoryReport {
  const parsed = parseHistoryOptions(options)
  requireEvents(history)
  const timeline = readTimeline(sortHistory(history), parsed)
  const log = new BreachLog(timeline.events, parsed)
  for (const { rule, message, subscription, indices } of timeline.complaints) {
    log.add({ rule, message, subscription, indices, at: timeline.events[indices.at(-1) ?? 0]?.at ?? timeline.from })
  }
  for (const finding of findOverlaps(timeline, parsed)) log.add(finding)
  for (const finding of findTokensNotGrowing(timeline, parsed)) log.add(finding)
  for (const finding of findStaleWrites(timeline, parsed)) log.add(finding)
  const gaps = findGaps(timeline, parsed)
  for (const finding of gaps.findings) log.add(finding)
  const subscriptions: SubscriptionFigures[] = []
  for (const record of timeline.subscriptions.values()) {
    const positions = findLostEvents(record, timeline, parsed)
    const { findings, moves, voluntaryMoves } = findNeedlessMoves(record, timeline, parsed)
    for (const finding of [...positions.findings, ...findings]) log.add(finding)
    subscriptions.push({
      subscription: record.name,
      claims: record.claims.length,
      runs: record.runs.length,
      ...{ moves, voluntaryMoves },
      checkpoints: record.checkpoints.length,
      applied: record.applied.length,
      refusals: record.refusals,
      lastPosition: positions.lastPosition,
      ...gapFigures(gaps.owner.get(record.name) ?? NO_GAPS),
    })
  }
  const leader = gaps.leader && gapFigures(gaps.leader)
  return {
    holds: log.count === 0,
    breachCount: log.count,
    breaches: log.breaches(),
    figures: { ...figuresOf(timeline), leader, subscriptions },
  }
}

function requireEvents(history: readonly HistoryEvent[]): void {
  for (const [index, event] of history.entries()) {
    const type: unknown = event?.type
    if (typeof type !== 'string' || !Object.hasOwn(HISTORY_FIELDS, type)) throw invalidEvent(index, 'type', type)
    if (!Number.isFinite(event.at)) throw invalidEvent(index, 'at', event.at)
    for (const name of NUMBERS) {
      const value = (event as { readonly [Name in (typeof NUMBERS)[number]]?: unknown })[name]
      if (value !== undefined && (typeof value !== 'number' || Number.isNaN(value))) throw invalidEvent(index, name, value)
    }
  }
}

const NUMBERS = ['trustedUntil', 'sentAt', 'position', 'from'] as const

function invalidEvent(index: number, name: string, value: unknown): CoordinationError {
  return new CoordinationError('invalid_history', `Event ${index} of the history has ${describeValue(value)} as its ${name}`)
}

const NO_SPAN: Span = { from: 0, until: 0 }
const NO_GAPS: GapFigures = { longestGap: NO_SPAN, longestRecovery: NO_SPAN }

function figuresOf({ events, from, until, instances, terms, faults }: Timeline): Omit<HistoryFigures, 'leader' | 'subscriptions'> {
  return { events: events.length, startedAt: from, durationSeconds: until - from, instances, terms: terms.length, faults }
}

function gapFigures({ longestGap, longestRecovery }: GapFigures): HistoryGapFigures {
  const longestGapSeconds = lengthOf(longestGap)
  return {
    longestGapSeconds,
    longestGapAt: longestGapSeconds > 0 ? longestGap.from : null,
    longestRecoverySeconds: lengthOf(longestRecovery),
  }
}
