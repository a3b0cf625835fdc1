import { type HistoryEvent, instanceOf } from './history-event.js'
import { isOwnEvent } from './history-order.js'
import { change, drop, insert, type Mutation, pickIndex } from './mutation-tools.fixture.js'

const TICK = 0.0005

/** Falsifications that leave a history which cannot be. */
export const RECORD_MUTATIONS: readonly Mutation[] = [
  {
    name: 'a leader that stops without a word of its term',
    rules: ['impossible'],
    mutate: (events, random) => {
      const index = pickIndex(
        events,
        random,
        (event, at) =>
          event.type === 'leadership_lost' &&
          events[at + 1]?.type === 'stopped' &&
          instanceOf(events[at + 1] as HistoryEvent) === event.instanceId,
      )
      return index === null ? null : drop(events, index)
    },
  },
  {
    name: 'a run that is not told to have ended when its instance stops',
    rules: ['impossible'],
    mutate: (events, random) => {
      const index = pickIndex(events, random, (event) => event.type === 'run_stopped' && event.cause === 'stopping')
      return index === null ? null : drop(events, index)
    },
  },
  {
    name: 'a claim that was never made',
    rules: ['impossible'],
    mutate: (events, random) => {
      const index = pickIndex(events, random, ({ type }) => type === 'claimed')
      return index === null ? null : drop(events, index)
    },
  },
  {
    name: 'a crash that is not recorded',
    rules: ['impossible'],
    mutate: (events, random) => {
      const index = pickIndex(events, random, ({ type }) => type === 'crashed')
      return index === null ? null : drop(events, index)
    },
  },
  {
    name: 'an act of the dead',
    rules: ['impossible'],
    mutate: (events, random) => actBetween(events, random, 'crashed', 'instance_started'),
  },
  {
    name: 'an act of one that stands still',
    rules: ['impossible'],
    mutate: (events, random) => actBetween(events, random, 'paused', 'resumed'),
  },
  {
    name: 'a release that is recorded twice',
    rules: ['impossible'],
    mutate: (events, random) => {
      const index = pickIndex(events, random, ({ type }) => type === 'claim_released')
      return index === null ? null : events.toSpliced(index, 0, events[index] as HistoryEvent)
    },
  },
  {
    name: 'a clock that goes back',
    rules: ['impossible'],
    mutate: (events, random) => {
      const index = pickIndex(events, random, (event, at) => isOwnEvent(event) && previousOf(events, at) !== undefined)
      return index === null ? null : change(events, index, { at: (previousOf(events, index)?.at ?? 0) - TICK })
    },
  },
]

/** What the same instance recorded before. */
function previousOf(events: readonly HistoryEvent[], index: number): HistoryEvent | undefined {
  const instanceId = instanceOf(events[index] as HistoryEvent)
  return events.slice(0, index).findLast((event) => isOwnEvent(event) && event.instanceId === instanceId)
}

/** An act of an instance between two of its events that lie apart. */
function actBetween(
  events: readonly HistoryEvent[],
  random: Parameters<Mutation['mutate']>[1],
  begins: HistoryEvent['type'],
  ends: HistoryEvent['type'],
): readonly HistoryEvent[] | null {
  const endOfIt = (event: HistoryEvent, index: number): HistoryEvent | undefined =>
    events
      .slice(index + 1)
      .find(({ type, ...rest }) => (type === ends || type === 'crashed') && 'instanceId' in rest && rest.instanceId === instanceOf(event))
  const index = pickIndex(events, random, (event, at) => event.type === begins && (endOfIt(event, at)?.at ?? 0) > event.at + 0.001)
  if (index === null) return null
  const event = events[index] as HistoryEvent
  return insert(events, {
    type: 'claims_renewed',
    at: (event.at + (endOfIt(event, index)?.at ?? 0)) / 2,
    instanceId: instanceOf(event) ?? '',
  })
}
