import type { HistoryEvent, WriteEvent } from './history-event.js'

/** A write and its place in the history. */
export interface IndexedWrite {
  readonly event: WriteEvent
  readonly index: number
  /** When it took effect at the earliest. */
  readonly sentAt: number
}

/** The writes at `indices` in the order in which they took effect: in one instant the smaller token came first. */
export function writesAt(events: readonly HistoryEvent[], indices: readonly number[]): readonly IndexedWrite[] {
  const writes = indices.map((index) => {
    const event = events[index] as WriteEvent
    return { event, index, sentAt: Math.min(event.sentAt ?? event.at, event.at) }
  })
  return writes.sort((a, b) => a.sentAt - b.sentAt || compareTokens(a.event.token, b.event.token) || a.index - b.index)
}

/** For sorting; no token comes first. */
export function compareTokens(one: bigint | null, other: bigint | null): number {
  if (one === other) return 0
  return one === null || (other !== null && one < other) ? -1 : 1
}
