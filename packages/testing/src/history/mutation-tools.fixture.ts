import { type HistoryEvent, instanceOf } from './history-event.js'
import type { HistoryRule } from './history-rules.js'
import type { SeededRandom } from './seeded-random.fixture.js'

/** A way to falsify a history. */
export interface Mutation {
  readonly name: string
  /** Rules of which at least one must find it. */
  readonly rules: readonly HistoryRule[]
  /** The falsified history; `null` where there is no place for it. */
  mutate(events: readonly HistoryEvent[], random: SeededRandom): readonly HistoryEvent[] | null
}

export type EventOf<Type extends HistoryEvent['type']> = Extract<HistoryEvent, { readonly type: Type }>

/** A term or claim as a mutation sees it: believed from the event at `start` until `until`. */
export interface Tenure {
  readonly start: number
  readonly event: EventOf<'claimed' | 'elected'>
  /** Its last deadline. */
  deadline: number
  /** When it ended: by its own event, death, or deadline. */
  until: number
  /** Index of the event that ended it. */
  end: number | null
}

/** The terms, or the claims on one subscription, in order. Reads only histories of the correct cluster, where everything has a deadline. */
export function tenuresOf(events: readonly HistoryEvent[], subscription: string | null): readonly Tenure[] {
  const [begins, renews] = subscription === null ? (['elected', 'leadership_renewed'] as const) : (['claimed', 'claims_renewed'] as const)
  const tenures: Tenure[] = []
  for (const [index, event] of events.entries()) {
    if ('subscription' in event && subscription !== null && event.subscription !== subscription) continue
    if ((event.type === 'elected' || event.type === 'claimed') && event.type === begins) {
      tenures.push({ start: index, event, deadline: event.trustedUntil ?? Infinity, until: Infinity, end: null })
    }
    const tenure = tenures.findLast(({ event: own, end }) => end === null && own.instanceId === instanceOf(event))
    if (tenure === undefined) continue
    if ((event.type === 'leadership_renewed' || event.type === 'claims_renewed') && event.type === renews)
      tenure.deadline = event.trustedUntil ?? 0
    if (ENDS.has(event.type) && (subscription === null) !== event.type.startsWith('claim_')) {
      tenure.end = index
      tenure.until = Math.min(event.at, tenure.deadline)
    }
  }
  return tenures
}

const ENDS: ReadonlySet<string> = new Set(['leadership_lost', 'claim_lost', 'claim_released', 'crashed', 'stopped'])

export const SUBSCRIPTIONS = ['s0', 's1', 's2'] as const

/** The index of one of the events that fit. */
export function pickIndex(
  events: readonly HistoryEvent[],
  random: SeededRandom,
  fits: (event: HistoryEvent, index: number) => boolean,
): number | null {
  return random.pick([...events.keys()].filter((index) => fits(events[index] as HistoryEvent, index))) ?? null
}

/** The history with `event` after everything that happened up to its time. */
export function insert(events: readonly HistoryEvent[], ...added: readonly HistoryEvent[]): readonly HistoryEvent[] {
  return added.reduce((all, event) => {
    const index = all.findIndex(({ at }) => at > event.at)
    return all.toSpliced(index === -1 ? all.length : index, 0, event)
  }, events)
}

export function drop(events: readonly HistoryEvent[], index: number): readonly HistoryEvent[] {
  return events.toSpliced(index, 1)
}

/** The history with the event at `index` changed. */
export function change(
  events: readonly HistoryEvent[],
  index: number,
  changes: Readonly<Record<string, unknown>>,
): readonly HistoryEvent[] {
  return events.with(index, { ...events[index], ...changes } as HistoryEvent)
}

/** One tenure of anything, with the ones before and after it. */
export function pickTenure(
  events: readonly HistoryEvent[],
  random: SeededRandom,
  subscriptions: readonly (string | null)[],
  fits: (tenure: Tenure, neighbours: { readonly before: Tenure | undefined; readonly after: Tenure | undefined }) => boolean,
): { readonly tenure: Tenure; readonly before: Tenure | undefined; readonly after: Tenure | undefined } | null {
  const found = subscriptions.flatMap((subscription) => {
    const tenures = tenuresOf(events, subscription)
    return tenures
      .map((tenure, index) => ({ tenure, before: tenures[index - 1], after: tenures[index + 1] }))
      .filter(({ tenure, before, after }) => fits(tenure, { before, after }))
  })
  return random.pick(found) ?? null
}

/** Another instance of the correct cluster. */
export function otherThan(instanceId: string): string {
  return instanceId === 'a' ? 'b' : 'a'
}
