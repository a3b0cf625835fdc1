import { type AssignmentPlanner, stickyPlanner } from '@es/coordination-core'
import { describe, expect, it } from 'vitest'
import { firstMembership, type MembershipMemory } from './membership.js'
import { type PlanRound, planRound } from './plan-round.js'
import { DAMPING, instance, roundOptions, view } from './views.test.harness.js'

/** A memory that has seen these members for long. */
function settled(...ids: string[]): MembershipMemory {
  return { ...firstMembership(0, [], DAMPING), members: new Set(ids), changedAt: 0, unsettledSince: 0 }
}

const assignments = ({ assignments: map }: PlanRound): Record<string, readonly string[]> => Object.fromEntries(map)
const ALWAYS = Number.NEGATIVE_INFINITY

describe('nobody steals (P1)', () => {
  const loaded = instance('a', { subscriptions: ['s1', 's2', 's3', 's4'] })

  it('tells a holder to let go, and the new owner nothing yet', () => {
    const round = planRound(view([loaded, instance('b')]), roundOptions(['s1', 's2', 's3', 's4']), settled('a', 'b'), ALWAYS)
    expect(round.plan?.moves).toHaveLength(2)
    expect(assignments(round)).toEqual({ a: ['s1', 's2'], b: [] })
  })

  it('tells the new owner once the old one has let go', () => {
    const lighter = instance('a', { subscriptions: ['s1', 's2', 's3'] })
    expect(
      assignments(planRound(view([lighter, instance('b')]), roundOptions(['s1', 's2', 's3', 's4']), settled('a', 'b'), ALWAYS)),
    ).toMatchObject({ b: ['s4'] })
  })

  it('gives what a draining instance still holds to nobody', () => {
    const leaving = instance('b', { status: 'draining', subscriptions: ['s1'] })
    const round = planRound(view([instance('a'), leaving]), roundOptions(['s1', 's2']), settled('a'), ALWAYS)
    expect(assignments(round)).toEqual({ a: ['s2'] })
  })

  it('gives what an instance may begin at any moment to nobody else', () => {
    const before = view([instance('a', { status: 'draining' }), instance('b'), instance('c')], { pending: new Map([['s1', 'b']]) })
    const greedy: AssignmentPlanner = (input) =>
      stickyPlanner({ ...input, instances: input.instances.filter((one) => one.instanceId === 'c') })
    const round = planRound(before, roundOptions(['s1', 's2'], { planner: greedy }), settled('b', 'c'), ALWAYS)
    expect(assignments(round)).toMatchObject({ c: ['s2'] })
  })

  it('tells one of two that run the same to stop', () => {
    const both = [instance('a', { subscriptions: ['s1'] }), instance('b', { subscriptions: ['s1', 's2'] })]
    expect(assignments(planRound(view(both), roundOptions(['s1', 's2']), settled('a', 'b'), ALWAYS))).toEqual({ a: ['s1'], b: ['s2'] })
  })
})

describe('a holder that is not heard (P2)', () => {
  it('keeps what it holds, and the plan says so (A7)', () => {
    const round = planRound(
      view([instance('a'), instance('b')], { holders: { s1: 'ghost' } }),
      roundOptions(['s1', 's2']),
      settled('a', 'b'),
      ALWAYS,
    )
    expect(round.plan?.pinned).toEqual([{ subscription: 's1', instanceId: 'ghost', reason: 'ghost holds it, but is not heard' }])
    expect(Object.values(assignments(round)).flat()).toEqual(['s2'])
  })

  it('loses what it does not hold any more', () => {
    const silent = instance('b', { status: 'stale', heardAt: 80, subscriptions: ['s1'] })
    expect(assignments(planRound(view([instance('a'), silent], { holders: {} }), roundOptions(['s1']), settled('a'), ALWAYS))).toEqual({
      a: ['s1'],
    })
  })
})

describe('moves for balance (P3)', () => {
  const instances = [instance('a', { subscriptions: ['s1', 's2', 's3'] }), instance('b')]

  it('wait until the members have settled, while what has no owner is given away at once', () => {
    const round = planRound(view(instances), roundOptions(['s1', 's2', 's3', 's4']), settled('a'), ALWAYS)
    expect(assignments(round)).toEqual({ a: ['s1', 's2', 's3'], b: ['s4'] })
    const two = planRound(view(instances), roundOptions(['s1', 's2', 's3']), settled('a'), ALWAYS)
    expect(assignments(two)).toEqual({ a: ['s1', 's2', 's3'], b: [] })
    expect(two.held).toEqual(['The members changed a moment ago; moves for balance wait until they have settled'])
    expect(two.againAt).toBe(102)
  })

  it('are limited in each round', () => {
    const options = roundOptions(['s1', 's2', 's3', 's4', 's5', 's6'], { maxMovesPerRound: 1 })
    const six = instance('a', { subscriptions: ['s1', 's2', 's3', 's4', 's5', 's6'] })
    expect(planRound(view([six, instance('b')]), options, settled('a', 'b'), ALWAYS).plan?.moves).toHaveLength(1)
  })
})

describe('listening first (P4)', () => {
  it('decides nothing, says why, and comes again in time', () => {
    const round = planRound(view([instance('a')]), roundOptions(['s1']), settled(), 103)
    expect(round).toMatchObject({ plan: null, held: ['This leader is new and listens first'], againAt: 103 })
    expect(round.assignments.size).toBe(0)
    expect(round.membership.members).toEqual(new Set(['a']))
  })
})

describe('what nobody holds', () => {
  const silent = ['b', 'c', 'd'].map((id) => instance(id, { status: 'stale', heardAt: 84 }))
  const before = settled('a', 'b', 'c', 'd')
  const assigned = new Map([['s1', 'b']])

  it('stays with the owner that the last leader named, while that one is a member', () => {
    const round = planRound(
      view([instance('a'), instance('b')], { assigned: new Map([['s1', 'b']]) }),
      roundOptions(['s1', 's2']),
      settled('a', 'b'),
      ALWAYS,
    )
    expect(assignments(round)).toEqual({ a: ['s2'], b: ['s1'] })
  })

  it('is held back when its owner fell silent together with most others (A9)', () => {
    const round = planRound(view([instance('a'), ...silent], { assigned }), roundOptions(['s1', 's2']), before, ALWAYS)
    expect(assignments(round)).toEqual({ a: ['s2'] })
    expect(round.held).toEqual(['Most instances fell silent at once: b, c, d'])
  })

  it('is not held back when the claims prove it free', () => {
    const round = planRound(view([instance('a'), ...silent], { assigned, holders: {} }), roundOptions(['s1']), before, ALWAYS)
    expect(assignments(round)).toEqual({ a: ['s1'] })
    expect(round.held).toEqual([])
  })

  it('waits for an owner that may come back under its id', () => {
    const round = planRound(
      view([instance('a'), instance('b', { status: 'draining' })], { assigned }),
      roundOptions(['s1'], { restartGraceSeconds: 5 }),
      settled('a', 'b'),
      ALWAYS,
    )
    expect(round.plan?.pinned).toMatchObject([{ subscription: 's1', reason: 'b may come back under the same id' }])
    expect(assignments(round)).toEqual({ a: [] })
  })

  it('goes home first when the one it was moved from is back', () => {
    const instances = [instance('a', { subscriptions: ['s1', 's2', 's3', 's4'] }), instance('b')]
    const homes = new Map([
      ['s1', 'b'],
      ['s2', 'b'],
    ])
    const round = planRound(view(instances, { homes }), roundOptions(['s1', 's2', 's3', 's4']), settled('a', 'b'), ALWAYS)
    expect(round.plan?.moves.map(({ subscription }) => subscription)).toEqual(['s1', 's2'])
  })

  it('is left unassigned, and reported, when nobody may run it (A8)', () => {
    const unwilling = instance('a', { declined: new Set(['s1']), capacity: 0 })
    const round = planRound(view([unwilling]), roundOptions(['s1', 's2']), settled('a'), ALWAYS)
    expect(round.plan?.unassigned.map(({ reason }) => reason)).toEqual(['not_allowed_anywhere', 'no_capacity'])
    expect(planRound(view([instance('a', { status: 'draining' })]), roundOptions(['s1']), settled('a'), ALWAYS).plan?.unassigned).toEqual([
      { subscription: 's1', reason: 'no_instance' },
    ])
  })
})
