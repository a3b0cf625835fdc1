import type { HistoryEvent } from './history-event.js'
import {
  change,
  drop,
  type EventOf,
  insert,
  type Mutation,
  otherThan,
  pickIndex,
  pickTenure,
  SUBSCRIPTIONS,
} from './mutation-tools.fixture.js'

const LARGE = 1_000_000n

/** Falsifications that make two of what there must be one of, or a token that does not grow. */
export const EXCLUSION_MUTATIONS: readonly Mutation[] = [
  {
    name: 'a second owner',
    rules: ['two_owners'],
    mutate: (events, random) => {
      const found = pickTenure(events, random, SUBSCRIPTIONS, ({ event, until }) => Number.isFinite(until) && until > event.at + 0.01)
      if (found === null) return null
      const { event, until } = found.tenure as { event: EventOf<'claimed'>; until: number }
      const at = (event.at + until) / 2
      return insert(events, { ...event, at, instanceId: otherThan(event.instanceId), token: LARGE, trustedUntil: at })
    },
  },
  {
    name: 'a second leader',
    rules: ['two_leaders'],
    mutate: (events, random) => {
      const found = pickTenure(events, random, [null], ({ event, until }) => Number.isFinite(until) && until > event.at + 0.01)
      if (found === null) return null
      const { event, until } = found.tenure
      const at = (event.at + until) / 2
      return insert(events, { ...event, at, instanceId: otherThan(event.instanceId), token: LARGE, trustedUntil: at } as HistoryEvent)
    },
  },
  {
    name: 'a release that is not recorded',
    rules: ['two_owners'],
    mutate: (events, random) => {
      const found = pickTenure(
        events,
        random,
        SUBSCRIPTIONS,
        ({ end, deadline }, { after }) =>
          end !== null &&
          events[end]?.type === 'claim_released' &&
          (after?.event.at ?? deadline) < deadline &&
          isOutlived(events, end, 'claimed'),
      )
      return found?.tenure.end == null ? null : drop(events, found.tenure.end)
    },
  },
  {
    name: 'a token that was used before',
    rules: ['token_not_growing'],
    mutate: (events, random) => {
      const found = pickTenure(events, random, [null, ...SUBSCRIPTIONS], (_, { before }) => before !== undefined)
      return found?.before == null ? null : change(events, found.tenure.start, { token: found.before.event.token })
    },
  },
  {
    name: 'a smaller token than the one before',
    rules: ['token_not_growing'],
    mutate: (events, random) => {
      const found = pickTenure(
        events,
        random,
        [null, ...SUBSCRIPTIONS],
        ({ event }, { before }) => before !== undefined && before.event.at < event.at,
      )
      return found?.before?.event.token == null ? null : change(events, found.tenure.start, { token: found.before.event.token - 1n })
    },
  },
  {
    name: 'a run that goes on in one instance while another has begun',
    rules: ['two_runs'],
    mutate: (events, random) => {
      const index = pickIndex(
        events,
        random,
        (event, at) => event.type === 'run_stopped' && event.cause === 'revoked' && isOutlived(events, at, 'run_started'),
      )
      return index === null ? null : drop(events, index)
    },
  },
  {
    name: 'a leader that believes past its deadline',
    rules: ['trusted_too_long'],
    mutate: (events, random) => {
      const found = pickTenure(
        events,
        random,
        [null],
        ({ end, deadline }) => end !== null && events[end]?.type === 'leadership_lost' && (events[end]?.at ?? 0) > deadline,
      )
      if (found?.tenure.end == null) return null
      const { at } = events[found.tenure.end] as HistoryEvent
      return events.toSpliced(found.tenure.end, 0, { type: 'leadership_renewed', at, instanceId: found.tenure.event.instanceId })
    },
  },
]

/** Whether another instance claims, or starts to run, the same thing strictly later and before this one dies or leaves. */
function isOutlived(events: readonly HistoryEvent[], index: number, begins: 'claimed' | 'run_started'): boolean {
  const { at, instanceId, subscription } = events[index] as EventOf<'run_stopped' | 'claim_released'>
  const next = events.slice(index + 1).find((event) => {
    if (event.type === begins) return event.subscription === subscription
    return (event.type === 'crashed' || event.type === 'stopped') && event.instanceId === instanceId
  })
  return next?.type === begins && next.instanceId !== instanceId && next.at > at && !isDeadAt(events, instanceId, next.at)
}

/** Whether it dies or leaves in this very instant. */
function isDeadAt(events: readonly HistoryEvent[], instanceId: string, at: number): boolean {
  return events.some(
    (event) => (event.type === 'crashed' || event.type === 'stopped') && event.at === at && event.instanceId === instanceId,
  )
}
