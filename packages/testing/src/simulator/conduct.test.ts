import { HEARTBEAT_TOPIC, SHUTDOWN_NOTIFICATIONS_TOPIC, type TransportHandler, WORK_ASSIGNMENT_TOPIC } from '@es/coordination-core'
import { describe, expect, it } from 'vitest'
import { ManualClock } from '../manual-clock.js'
import { Conduct } from './conduct.js'
import { SimulatedProcess } from './simulated-process.js'
import type { PeerBelief } from './surroundings.js'

interface Beat {
  readonly instance_id: string
  readonly incarnation: string
  readonly sequence: number
  readonly subscriptions: readonly string[]
}

/** An instance `a` that takes every heartbeat for the newest, and clears no notice, when it is told to be so foolish. */
async function setUp({ isFoolish }: { readonly isFoolish: boolean }) {
  const clock = new ManualClock()
  const offences: string[] = []
  const beliefs = new Map<string, PeerBelief & { readonly incarnation: unknown; readonly sequence: number }>()
  const conduct = new Conduct({
    ...{ instanceId: 'a', incarnation: 'a/1', heartbeatTimeoutSeconds: 3, clock, process: new SimulatedProcess({ clock }) },
    ...{ believes: (id) => beliefs.get(id), says: () => {}, offends: (what) => offences.push(what) },
  })
  const handlers = new Map<string, TransportHandler>()
  const bus = conduct.over({
    publish: async () => {},
    subscribe: async (topic, handler) => {
      handlers.set(topic, handler)
      return () => {}
    },
    onResync: () => () => {},
  })
  await bus.subscribe(WORK_ASSIGNMENT_TOPIC, () => {})
  await bus.subscribe(SHUTDOWN_NOTIFICATIONS_TOPIC, (message) => {
    const { instance_id: id, incarnation } = message as Beat
    beliefs.set(id, { subscriptions: [], isLeaving: true, incarnation, sequence: -1 })
  })
  await bus.subscribe(HEARTBEAT_TOPIC, (message) => {
    const { instance_id: id, incarnation, sequence, subscriptions } = message as Beat
    const known = beliefs.get(id)
    const isNewLife = known?.incarnation !== incarnation
    if (!isFoolish && !isNewLife && known !== undefined && sequence < known.sequence) return
    const isLeaving = known?.isLeaving === true && (isFoolish || !isNewLife)
    beliefs.set(id, { subscriptions, isLeaving, incarnation, sequence })
  })
  const hears = (topic: string, message: object): void => handlers.get(topic)?.(message)
  return {
    ...{ clock, conduct, bus, offences },
    assigns: (epoch: number, subscriptions: readonly string[]) =>
      hears(WORK_ASSIGNMENT_TOPIC, { target_instance_id: 'a', epoch: String(epoch), revision: 0, subscriptions }),
    beats: (incarnation: string, sequence: number, subscriptions: readonly string[] = []) =>
      hears(HEARTBEAT_TOPIC, { instance_id: 'b', incarnation, sequence, subscriptions }),
    leaves: (incarnation: string) => hears(SHUTDOWN_NOTIFICATIONS_TOPIC, { instance_id: 'b', incarnation, sequence: 5 }),
  }
}

describe('C1: an instance takes only what the newest assignment gives it', () => {
  it('and is blamed when it acts on an older one', async () => {
    const { clock, conduct, assigns, offences } = await setUp({ isFoolish: false })
    assigns(7, ['s1'])
    assigns(6, ['s2'])
    await clock.advance(1)
    conduct.takes(['s1'])
    conduct.takes(['s1', 's2'])
    await clock.advance(1)
    expect(offences).toEqual(['a/1 takes s2 at 1.000 s, which the newest assignment that it heard, of epoch 7, does not give it'])
  })

  it('or what it says itself in that moment, as a leader', async () => {
    const { clock, conduct, bus, assigns, offences } = await setUp({ isFoolish: false })
    assigns(7, ['s1'])
    conduct.takes(['s2'])
    await bus.publish(WORK_ASSIGNMENT_TOPIC, { target_instance_id: 'a', epoch: '8', revision: 1, subscriptions: ['s2'] })
    await clock.advance(1)
    expect(offences).toEqual([])
  })
})

describe('C2: a heartbeat that was overtaken changes nothing', () => {
  it.each([true, false])('for an instance that believes it: %s', async (isFoolish) => {
    const { beats, offences } = await setUp({ isFoolish })
    beats('b/1', 1, ['s1'])
    beats('b/1', 3, ['s1', 's2'])
    beats('b/1', 2, ['s1'])
    expect(offences).toEqual(isFoolish ? ['a/1 believes a heartbeat of b at 0.000 s that a later one had overtaken'] : [])
  })
})

describe('C3: who begins a new life is not leaving', () => {
  it.each([true, false])('for an instance that never clears a notice: %s', async (isFoolish) => {
    const { beats, leaves, offences } = await setUp({ isFoolish })
    beats('b/1', 1)
    leaves('b/1')
    beats('b/2', 0)
    expect(offences).toEqual(isFoolish ? ['a/1 takes b for leaving at 0.000 s, when a new life of it is first heard'] : [])
  })

  it('but one whose own notice came before its heartbeat is', async () => {
    const { beats, leaves, offences } = await setUp({ isFoolish: false })
    leaves('b/1')
    beats('b/1', 4)
    expect(offences).toEqual([])
  })
})
