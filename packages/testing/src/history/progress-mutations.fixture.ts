import { type HistoryEvent, subscriptionOf } from './history-event.js'
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
  tenuresOf,
} from './mutation-tools.fixture.js'

const LARGE = 1_000_000n
const TICK = 0.0005

/** Falsifications of what is written, owned and moved. */
export const PROGRESS_MUTATIONS: readonly Mutation[] = [
  {
    name: 'a position that is written again',
    rules: ['event_repeated'],
    mutate: (events, random) => {
      const index = pickIndex(events, random, ({ type }) => type === 'checkpoint_written')
      return index === null ? null : events.toSpliced(index, 0, events[index] as HistoryEvent)
    },
  },
  {
    name: 'a write that is missing',
    rules: ['event_lost'],
    mutate: (events, random) => {
      const index = pickIndex(events, random, (event, at) => event.type === 'checkpoint_written' && nextWrite(events, at) !== null)
      return index === null ? null : drop(events, index)
    },
  },
  {
    name: 'two writes that change places',
    rules: ['event_out_of_order'],
    mutate: (events, random) => {
      const index = pickIndex(
        events,
        random,
        (event, at) => event.type === 'checkpoint_written' && nextWrite(events, at)?.event.token === event.token,
      )
      const next = index === null ? null : nextWrite(events, index)
      if (index === null || next === null) return null
      return change(change(events, index, { position: next.event.position }), next.index, { position: next.event.position - 1 })
    },
  },
  {
    name: 'a write of an earlier owner',
    rules: ['stale_write'],
    mutate: (events, random) => {
      const subscription = random.pick(SUBSCRIPTIONS) ?? ''
      const [first] = tenuresOf(events, subscription)
      const index = pickIndex(
        events,
        random,
        (event) => event.type === 'checkpoint_written' && event.subscription === subscription && event.token !== first?.event.token,
      )
      if (index === null || first === undefined) return null
      const write = events[index] as EventOf<'checkpoint_written'>
      return insert(events, {
        ...write,
        at: write.at + TICK,
        instanceId: first.event.instanceId,
        token: first.event.token,
        position: write.position + 1,
      })
    },
  },
  {
    name: 'a write after the claim has ended and another one begun',
    rules: ['late_write', 'stale_write'],
    mutate: (events, random) => {
      const found = pickTenure(
        events,
        random,
        SUBSCRIPTIONS,
        ({ until, end }, { after }) => after !== undefined && end !== null && events[end]?.type !== 'crashed' && until <= after.event.at,
      )
      if (found?.after === undefined) return null
      const { instanceId, token } = found.tenure.event
      const subscription = subscriptionOf(found.tenure.event) ?? ''
      return insert(events, { type: 'checkpoint_written', at: found.after.event.at + TICK, instanceId, subscription, token, position: 1 })
    },
  },
  {
    name: 'an owner that gives up in quiet times, and nobody follows',
    rules: ['without_owner'],
    mutate: (events, random) => {
      const subscription = random.pick(SUBSCRIPTIONS) ?? ''
      const owner = tenuresOf(events, subscription).at(-1)
      const at = endOf(events) - 8
      if (owner === undefined || owner.end !== null || owner.event.at > at) return null
      const kept = events.filter((event) => event.at <= at || subscriptionOf(event) !== subscription)
      return insert(kept, { type: 'claim_lost', at, instanceId: owner.event.instanceId, subscription })
    },
  },
  {
    name: 'a leader that gives up in quiet times, and nobody follows',
    rules: ['without_leader'],
    mutate: (events) => {
      const leader = tenuresOf(events, null).at(-1)
      const at = endOf(events) - 8
      if (leader === undefined || leader.end !== null || leader.event.at > at) return null
      const kept = events.filter((event) => event.at <= at || event.type !== 'leadership_renewed')
      return insert(kept, { type: 'leadership_lost', at, instanceId: leader.event.instanceId })
    },
  },
  {
    name: 'a move in quiet times',
    rules: ['needless_move'],
    mutate: (events, random) => {
      const subscription = random.pick(SUBSCRIPTIONS) ?? ''
      const owner = tenuresOf(events, subscription).at(-1)
      const at = endOf(events) - 6
      if (owner === undefined || owner.end !== null || owner.event.at > at) return null
      const { instanceId } = owner.event
      const kept = events.filter((event) => event.at <= at || subscriptionOf(event) !== subscription)
      return insert(
        kept,
        { type: 'run_stopped', at, instanceId, subscription, cause: 'revoked' },
        { type: 'claim_released', at, instanceId, subscription },
        { type: 'claimed', at, instanceId: otherThan(instanceId), subscription, token: LARGE },
      )
    },
  },
]

function endOf(events: readonly HistoryEvent[]): number {
  return events.at(-1)?.at ?? 0
}

/** The write that follows in the same subscription. */
function nextWrite(
  events: readonly HistoryEvent[],
  index: number,
): { readonly event: EventOf<'checkpoint_written'>; readonly index: number } | null {
  const subscription = subscriptionOf(events[index] as HistoryEvent)
  const next = events.findIndex((event, at) => at > index && event.type === 'checkpoint_written' && event.subscription === subscription)
  return next === -1 ? null : { event: events[next] as EventOf<'checkpoint_written'>, index: next }
}
