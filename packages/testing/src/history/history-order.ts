import type { HistoryEvent } from './history-event.js'

/**
 * The events in the order of time; those of one instant stay in the order given, and so do all that one instance recorded of itself, even where its
 * time goes back, so that `checkHistory` can tell. Sorting twice changes nothing.
 */
export function sortHistory(events: readonly HistoryEvent[]): readonly HistoryEvent[] {
  return mergeHistories([events])
}

/** {@link sortHistory} of several recordings at once, of which each has its own order. Events of one instant come in the order of the recordings. */
export function mergeHistories(recordings: readonly (readonly HistoryEvent[])[]): readonly HistoryEvent[] {
  const [first = [], ...others] = recordings
  const events = others.length === 0 ? first : recordings.flat()
  const times = new Float64Array(events.length)
  let offset = 0
  for (const recording of recordings) {
    fillTimes(recording, times.subarray(offset, offset + recording.length))
    offset += recording.length
  }
  if (isAscending(times)) return events
  const order = Array.from(events.keys())
  // Of equal times the earlier index comes first: the sort is stable.
  order.sort((a, b) => timeAt(times, a) - timeAt(times, b))
  return order.map((index) => events[index] as HistoryEvent)
}

/** Whether the instance itself recorded it, and not somebody who watches. */
export function isOwnEvent(event: HistoryEvent): event is Exclude<HistoryEvent, { readonly type: ExternalType }> {
  return !EXTERNAL.has(event.type)
}

type ExternalType = 'crashed' | 'paused' | 'resumed' | 'fault' | 'fault_began' | 'fault_ended' | 'end'

const EXTERNAL: ReadonlySet<string> = new Set<ExternalType>(['crashed', 'paused', 'resumed', 'fault', 'fault_began', 'fault_ended', 'end'])

/** The time of each event, never before the one that its instance recorded last. */
function fillTimes(events: readonly HistoryEvent[], times: Float64Array): void {
  const latest = new Map<string, number>()
  for (const [index, event] of events.entries()) {
    times[index] = event.at
    if (!isOwnEvent(event)) continue
    const before = latest.get(event.instanceId)
    if (before !== undefined && before > event.at) times[index] = before
    else latest.set(event.instanceId, event.at)
  }
}

function isAscending(times: Float64Array): boolean {
  for (let index = 1; index < times.length; index++) if (timeAt(times, index) < timeAt(times, index - 1)) return false
  return true
}

function timeAt(times: Float64Array, index: number): number {
  return times[index] as number
}
