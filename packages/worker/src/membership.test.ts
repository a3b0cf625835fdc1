import { describe, expect, it } from 'vitest'
import type { ClusterView } from './cluster-view.js'
import { decideMembership, firstMembership, type Membership, type MembershipMemory, type MembershipOptions } from './membership.js'
import { DAMPING, instance, view } from './views.test.harness.js'

const SETTLED: MembershipMemory = { ...firstMembership(0, [], DAMPING), changedAt: 0, unsettledSince: 0 }

/** Decides for each view in turn, each time with the memory of the one before. */
function decide(views: readonly ClusterView[], options: Partial<MembershipOptions> = {}, before: MembershipMemory = SETTLED): Membership[] {
  let memory = before
  return views.map((one) => {
    const membership = decideMembership(one, { ...DAMPING, ...options }, memory)
    memory = membership
    return membership
  })
}

const members = ({ members: ids }: Membership): string[] => [...ids].sort()

it('counts the healthy ones as members, and nobody else', () => {
  const all = [
    instance('a'),
    instance('b', { status: 'draining' }),
    instance('c', { status: 'stale' }),
    instance('d', { status: 'terminated' }),
    instance('e'),
  ]
  expect(members(decide([view(all)])[0] as Membership)).toEqual(['a', 'e'])
})

describe('an instance whose claims are gone', () => {
  const quiet = instance('b', { heardAt: 95, subscriptions: ['s'] })
  const look = (now: number, holders: Record<string, string>, instances = [instance('a'), quiet]): ClusterView =>
    view(instances, { now, observation: { at: now, holders: new Map(Object.entries(holders)) } })

  it('has crashed when it is not heard within crashGraceSeconds', () => {
    const rounds = decide([look(100, { s: 'b' }), look(100.5, {}), look(100.9, {}), look(101, {})])
    expect(rounds.map(members)).toEqual([['a', 'b'], ['a', 'b'], ['a', 'b'], ['a']])
    expect(rounds[1]?.deadlines).toContain(101)
  })

  it('has crashed also when this leader never saw its claims: it says that it holds something', () => {
    expect(decide([look(100, {}), look(100.5, {})]).map(members)).toEqual([['a', 'b'], ['a']])
  })

  it('has not when it is heard in the meantime, however often the look repeats, until it holds a claim again', () => {
    const heard = [instance('a'), instance('b', { heardAt: 100.7, subscriptions: ['s'] })]
    const rounds = decide([
      look(100, { s: 'b' }),
      look(100.5, {}),
      look(101, {}, heard),
      look(105, {}, heard),
      look(105.5, {}, heard),
      look(106, { s: 'b' }, heard),
      look(107, {}, heard),
      look(108, {}, heard),
    ])
    expect(rounds.map((round) => members(round).includes('b'))).toEqual([true, true, true, true, true, true, true, false])
  })

  it('is at peace when it holds and says nothing', () => {
    const idle = [instance('a'), instance('b', { heardAt: 90 })]
    expect(decide([look(100, {}, idle), look(200, {}, idle)]).map(members)).toEqual([
      ['a', 'b'],
      ['a', 'b'],
    ])
  })

  it('may be this one: it does not take itself for dead', () => {
    const self = [instance('a', { heardAt: 90, subscriptions: ['s'] })]
    expect(decide([look(100, { s: 'a' }, self), look(101, {}, self), look(102, {}, self)]).map(members)).toEqual([['a'], ['a'], ['a']])
  })

  it('may be one that never claims', () => {
    const peer = [instance('r', { heardAt: 90, usesClaims: false, subscriptions: ['s'] })]
    expect(decide([look(100, {}, peer), look(102, {}, peer)]).map(members)).toEqual([['r'], ['r']])
  })

  it('is not one whose id the backend cuts', () => {
    const long = 'an-instance-id-that-is-far-too-long-for-a-column-of-sixty-three-bytes'
    const cut = [instance(long, { heardAt: 90, subscriptions: ['s'] })]
    expect(decide([look(100, { s: long.slice(0, 63) }, cut), look(102, { s: long.slice(0, 63) }, cut)]).map(members)).toEqual([
      [long],
      [long],
    ])
  })
})

describe('settling', () => {
  const at = (now: number, ...ids: string[]): ClusterView =>
    view(
      ids.map((id) => instance(id, { heardAt: now })),
      { now },
    )
  const settledIn = (rounds: Membership[], views: ClusterView[]): number[] =>
    rounds.map(({ settledAt }, index) => Math.round((settledAt - (views[index]?.now ?? 0)) * 10) / 10)

  it('begins anew with every change of the members, also when one takes the place of another', () => {
    const views = [at(100, 'a', 'b'), at(101, 'a', 'b'), at(102, 'a', 'c'), at(103, 'a', 'c'), at(104.5, 'a')]
    expect(settledIn(decide(views), views)).toEqual([2, 1, 2, 1, 2])
  })

  it('takes five windows at most, and is damped again after that', () => {
    const views = Array.from({ length: 16 }, (_, second) => at(100 + second, 'a', ...(second % 2 === 0 ? ['b'] : [])))
    // Ten seconds after it began at 100: settled once at 110, and then not before 121.
    expect(settledIn(decide(views), views).map((seconds) => seconds <= 0)).toEqual([
      ...Array.from({ length: 10 }, () => false),
      true,
      ...Array.from({ length: 5 }, () => false),
    ])
  })
})

describe('a loss', () => {
  const ids = ['a', 'b', 'c', 'd', 'e']
  const lost = (now: number, ...gone: string[]): ClusterView =>
    view(
      ids.map((id) => instance(id, { status: gone.includes(id) ? 'stale' : 'healthy' })),
      { now },
    )
  const lostTogether = (rounds: Membership[]): string[][] => rounds.map((round) => [...round.lostTogether])

  it('of most others at once is held for massLossHoldSeconds (A9)', () => {
    const rounds = decide([lost(100), lost(101, 'b', 'c', 'd'), lost(130.9, 'b', 'c', 'd'), lost(131, 'b', 'c', 'd')])
    expect(lostTogether(rounds)).toEqual([[], ['b', 'c', 'd'], ['b', 'c', 'd'], []])
    expect(rounds[1]?.deadlines).toContain(131)
  })

  it('one after the other within a heartbeat timeout counts as one (A9)', () => {
    expect(lostTogether(decide([lost(100), lost(101, 'b'), lost(108, 'b', 'c'), lost(114, 'b', 'c', 'd')])).at(-1)).toEqual(['b', 'c', 'd'])
  })

  it('of few, or slowly, is not held', () => {
    expect(lostTogether(decide([lost(100), lost(101, 'b', 'c')])).at(-1)).toEqual([])
    expect(lostTogether(decide([lost(100), lost(101, 'b'), lost(117, 'b', 'c'), lost(133, 'b', 'c', 'd')])).at(-1)).toEqual([])
  })

  it('of the only other one is not held', () => {
    const two = (now: number, status: 'healthy' | 'stale'): ClusterView => view([instance('a'), instance('b', { status })], { now })
    expect(lostTogether(decide([two(100, 'healthy'), two(101, 'stale')])).at(-1)).toEqual([])
  })

  it('is over for those who come back', () => {
    expect(lostTogether(decide([lost(100), lost(101, 'b', 'c', 'd'), lost(102, 'b')])).at(-1)).toEqual(['b'])
  })

  it('by goodbyes is none', () => {
    const leaving = view(
      ids.map((id) => instance(id, { status: id === 'a' ? 'healthy' : 'draining' })),
      { now: 101 },
    )
    expect(lostTogether(decide([lost(100), leaving])).at(-1)).toEqual([])
  })

  it('that came with the change of the leader is seen by the new one', () => {
    const instances = ids.map((id) => instance(id, { status: id === 'a' ? 'healthy' : 'stale', heardAt: id === 'a' ? 100 : 84 }))
    const memory = firstMembership(100, instances, DAMPING)
    expect(lostTogether(decide([view(instances)], {}, memory))).toEqual([['b', 'c', 'd', 'e']])
    // What is long gone is no news.
    const old = ids.map((id) => instance(id, { status: id === 'a' ? 'healthy' : 'stale', heardAt: id === 'a' ? 100 : 60 }))
    expect(lostTogether(decide([view(old)], {}, firstMembership(100, old, DAMPING)))).toEqual([[]])
  })
})

describe('restart grace', () => {
  const options = { restartGraceSeconds: 10 }
  const at = (now: number, status: 'healthy' | 'draining' | 'terminated' | 'stale'): ClusterView =>
    view([instance('a'), instance('b', { status })], { now })

  it('waits for one that left, or fell silent, and not longer', () => {
    for (const status of ['draining', 'terminated', 'stale'] as const) {
      const rounds = decide([at(100, 'healthy'), at(101, status), at(110.9, status), at(111, status)], options)
      expect(rounds.map(({ mayReturn }) => [...mayReturn])).toEqual([[], ['b'], ['b'], []])
      expect(rounds[1]?.deadlines).toContain(111)
    }
  })

  it('is over once it is back', () => {
    expect(decide([at(100, 'healthy'), at(101, 'draining'), at(102, 'healthy')], options).at(-1)?.mayReturn.size).toBe(0)
  })

  it('is none by default', () => {
    expect(decide([at(100, 'healthy'), at(101, 'draining')]).at(-1)?.mayReturn.size).toBe(0)
  })

  it('is granted by a new leader to whoever left with the one before', () => {
    const instances = [instance('a'), instance('b', { status: 'draining', heardAt: 99 })]
    const memory = firstMembership(100, instances, { ...DAMPING, ...options })
    expect([...(decide([view(instances)], options, memory)[0] as Membership).mayReturn]).toEqual(['b'])
  })
})

it('says when the silence of each member would be over, so that a round comes in time', () => {
  const [round] = decide([view([instance('a'), instance('b', { heardAt: 90 })])])
  expect(Math.min(...(round?.deadlines.filter((at) => at > 103) ?? []))).toBeCloseTo(105.001, 6)
})
