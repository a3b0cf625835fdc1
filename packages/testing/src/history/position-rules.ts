import type { Finding } from './breach-log.js'
import type { ParsedHistoryOptions } from './history-options.js'
import type { HistoryRule } from './history-rules.js'
import { formatPositions, PositionLedger, type PositionRange } from './position-ledger.js'
import type { Timeline } from './timeline.js'
import { formatTime, type SubscriptionRecord } from './timeline-book.js'
import { type IndexedWrite, writesAt } from './write-order.js'

/** What the positions of one subscription say. */
export interface PositionResult {
  readonly findings: readonly Finding[]
  /** The largest position that was written; 0 for none. */
  readonly lastPosition: number
}

/** H10, H11 and H12: every event once, and in order. */
export function findLostEvents(record: SubscriptionRecord, timeline: Timeline, options: ParsedHistoryOptions): PositionResult {
  return new PositionJudge(record.name, timeline, options).judge(record)
}

/** Faults of one kind in a row, by one writer: one finding. */
interface FaultRow {
  readonly rule: HistoryRule
  readonly writer: string
  readonly indices: readonly number[]
  readonly at: number
  range: PositionRange
}

class PositionJudge {
  readonly #name: string
  readonly #timeline: Timeline
  readonly #options: ParsedHistoryOptions
  readonly #findings: Finding[] = []
  readonly #ledger: PositionLedger
  #row: FaultRow | null = null

  constructor(name: string, timeline: Timeline, options: ParsedHistoryOptions) {
    this.#name = name
    this.#timeline = timeline
    this.#options = options
    this.#ledger = new PositionLedger(options.firstPosition)
  }

  judge({ checkpoints, applied }: SubscriptionRecord): PositionResult {
    const { events } = this.#timeline
    const checkpointWrites = writesAt(events, checkpoints)
    const positions = checkpointWrites.map(({ event }) => event.position)
    const highest = positions.reduce((most, position) => Math.max(most, position), NOWHERE)
    // Whoever sets a checkpoint says that it has seen to everything up to there.
    const covered = Math.max(this.#options.lastPositions.get(this.#name) ?? NOWHERE, highest)
    this.#judgeWrites(applied.length > 0 ? writesAt(events, applied) : checkpointWrites, covered)
    this.#judgeCheckpoints(checkpointWrites, applied.length > 0)
    return { findings: this.#findings, lastPosition: Math.max(0, highest) }
  }

  /** The positions must be written one after the other. */
  #judgeWrites(writes: readonly IndexedWrite[], covered: number): void {
    let before: IndexedWrite | null = null
    for (const write of writes) {
      const range = rangeOf(write)
      if (isEmpty(range)) continue
      const missing = this.#ledger.skips(range.first)
      const { repeated, late } = this.#ledger.write(range, write.index)
      if (missing > 0 && this.#isUnrecorded(missing, before, write)) this.#ledger.forgive()
      if (late === null && repeated === null) this.#endRow()
      if (late !== null) this.#fault('event_out_of_order', late, write, before)
      if (repeated !== null) this.#fault('event_repeated', repeated, write, before)
      before = write
    }
    this.#endRow()
    for (const range of this.#ledger.missing) this.#lose(range, [range.skippedBy], this.#timeline.events[range.skippedBy]?.at ?? 0)
    if (covered >= this.#ledger.next) {
      this.#lose({ first: this.#ledger.next, last: covered }, before === null ? [] : [before.index], this.#timeline.until)
    }
  }

  /** Checkpoints must not go back. Where they say what was covered, that was found already: such a write repeats positions. */
  #judgeCheckpoints(writes: readonly IndexedWrite[], areAppliedRecorded: boolean): void {
    let highest: IndexedWrite | null = null
    for (const write of writes) {
      const { position, instanceId, at } = write.event
      if (highest === null || position >= highest.event.position) {
        highest = write
      } else if (areAppliedRecorded || isEmpty(rangeOf(write))) {
        const message = `${instanceId} put the checkpoint of ${this.#name} back from ${highest.event.position} to ${position} at ${formatTime(at, this.#timeline.from)}`
        this.#add('event_out_of_order', at, [highest.index, write.index], message)
      }
    }
  }

  /** Whether the writer was killed before it could record what it wrote. */
  #isUnrecorded(missing: number, before: IndexedWrite | null, write: IndexedWrite): boolean {
    if (before === null || missing > this.#options.maxUnrecordedAtCrash) return false
    const crashes = this.#timeline.crashes.get(before.event.instanceId) ?? []
    return crashes.some((at) => at >= before.sentAt && at <= write.event.at)
  }

  #fault(rule: HistoryRule, range: PositionRange, { event, index }: IndexedWrite, before: IndexedWrite | null): void {
    const writer = `${event.instanceId} ${event.token}`
    if (this.#row !== null && this.#row.rule === rule && this.#row.writer === writer) {
      this.#row.range = { first: Math.min(this.#row.range.first, range.first), last: Math.max(this.#row.range.last, range.last) }
      return
    }
    this.#endRow()
    this.#row = { rule, writer, range, at: event.at, indices: before === null ? [index] : [before.index, index] }
  }

  #endRow(): void {
    if (this.#row === null) return
    const { rule, indices, range, at } = this.#row
    const writer = this.#timeline.events[indices.at(-1) ?? 0]
    const who = writer !== undefined && 'instanceId' in writer ? writer.instanceId : 'somebody'
    const what = rule === 'event_repeated' ? 'again' : 'after later ones'
    this.#add(
      rule,
      at,
      indices,
      `${who} wrote ${formatPositions(range)} of ${this.#name} ${what} at ${formatTime(at, this.#timeline.from)}`,
    )
    this.#row = null
  }

  #lose(range: PositionRange, indices: readonly number[], at: number): void {
    this.#add(
      'event_lost',
      at,
      indices,
      `${this.#name} has lost ${formatPositions(range)}: never written, as of ${formatTime(at, this.#timeline.from)}`,
    )
  }

  #add(rule: HistoryRule, at: number, indices: readonly number[], message: string): void {
    this.#findings.push({ rule, at, indices, message, subscription: this.#name })
  }
}

/** Before any position. */
const NOWHERE = Number.NEGATIVE_INFINITY

/** Whether a write covers nothing: it only put its token down. */
function isEmpty({ first, last }: PositionRange): boolean {
  return first > last
}

/** What a write covers. */
function rangeOf({ event }: IndexedWrite): PositionRange {
  const first = event.type === 'checkpoint_written' ? (event.from ?? event.position) : event.position
  return { first, last: event.position }
}
