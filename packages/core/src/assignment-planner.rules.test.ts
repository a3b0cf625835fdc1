import { describe, expect, it } from 'vitest'
import { allTo, called, named, numbered, ownersOf, plain, plan, sizesOf, taken } from './assignment-planner.test.harness.js'
import { CoordinationError } from './errors.js'

describe('the sticky planner', () => {
  describe('with hard rules', () => {
    it('leaves what fits nowhere unassigned, and takes the fewest from an instance above its capacity', () => {
      const subscriptions = [...numbered(3), { name: 'big', weight: 3 }, { name: 'huge', weight: 50 }]
      const current = new Map([...allTo('A', numbered(3)), ['big', 'A'], ['huge', 'A']] as [string, string][])
      const result = plan({ subscriptions, instances: [{ instanceId: 'A', capacity: 5 }], current })
      // Without huge there are 6: one of the small ones suffices, so big stays.
      expect(result.assignments.get('A')).toEqual(['big', 's1', 's2'])
      expect(result.moves).toEqual([
        { subscription: 'huge', from: 'A', to: null, reason: 'over_capacity' },
        { subscription: 's0', from: 'A', to: null, reason: 'over_capacity' },
      ])
      expect(result.unassigned.map(({ reason }) => reason)).toEqual(['no_capacity', 'no_capacity'])
    })

    it('fits ten times a tenth into a capacity of one', () => {
      const subscriptions = numbered(11).map((subscription) => ({ ...subscription, weight: 0.1 }))
      const result = plan({ subscriptions, instances: [{ instanceId: 'A', capacity: 1 }] })
      expect(sizesOf(result)).toEqual({ A: 10 })
      expect(plan({ subscriptions, instances: [{ instanceId: 'A', capacity: 0.3 }] }).assignments.get('A')).toHaveLength(3)
      expect(plan({ subscriptions, instances: [{ instanceId: 'A', capacity: 0 }] }).assignments.get('A')).toEqual([])
    })

    it('takes away what its owner may not run, and says when nobody may', () => {
      const instances = [{ instanceId: 'A', mayRun: (name: string) => name === 'ours' }, ...called('B')].map((instance) => ({
        ...instance,
        mayRun: (name: string) => name !== 'nobodys' && (!('mayRun' in instance) || instance.mayRun(name)),
      }))
      const current = new Map(allTo('A', named('ours', 'theirs', 'nobodys')))
      const result = plan({ subscriptions: named('ours', 'theirs', 'nobodys'), instances, current })
      expect(plain(result)).toMatchObject({
        assignments: [
          ['A', ['ours']],
          ['B', ['theirs']],
        ],
        moves: [
          { subscription: 'nobodys', from: 'A', to: null, reason: 'not_allowed' },
          { subscription: 'theirs', from: 'A', to: 'B', reason: 'not_allowed' },
        ],
        unassigned: [{ subscription: 'nobodys', reason: 'not_allowed_anywhere' }],
      })
    })

    it('makes room for what is left over by moving the lightest that suffices, to where it leaves the least room', () => {
      const weights = { orphan: 5, big: 5, small1: 1, small2: 1, middle: 2, small3: 1 }
      const subscriptions = Object.entries(weights).map(([name, weight]) => ({ name, weight }))
      const current = new Map([
        ['orphan', 'gone'],
        ['big', 'A'],
        ...['small1', 'small2', 'middle', 'small3'].map((name) => [name, 'C'] as const),
      ])
      const result = plan({ subscriptions, instances: ['A', 'C'].map((instanceId) => ({ instanceId, capacity: 9 })), current })
      expect(plain(result)).toMatchObject({
        moves: [
          { subscription: 'orphan', from: 'gone', to: 'C', reason: 'owner_gone' },
          { subscription: 'small1', from: 'C', to: 'A', reason: 'make_room' },
          { subscription: 'small3', from: 'C', to: 'A', reason: 'balance' },
        ],
        unassigned: [],
      })
      const again = plan({
        subscriptions,
        instances: ['A', 'C'].map((instanceId) => ({ instanceId, capacity: 9 })),
        current: ownersOf(result),
      })
      expect(again.moves).toEqual([])
    })

    it('makes room with several where none suffices alone, and moves nothing where all of it would not suffice', () => {
      const subscriptions = [...numbered(4).map(({ name }) => ({ name, weight: 2 })), { name: 'big', weight: 4 }]
      const current = new Map([...allTo('A', numbered(2)), ['s2', 'B'], ['s3', 'B'], ['big', 'gone']] as [string, string][])
      const capacities = (a: number, b: number) => [
        { instanceId: 'A', capacity: a },
        { instanceId: 'B', capacity: b },
      ]
      const made = plan({ subscriptions, instances: capacities(4, 8), current })
      expect(made.unassigned).toEqual([])
      expect(taken(made.moves)).toEqual([])
      const full = plan({ subscriptions, instances: capacities(5, 5), current })
      expect(full.unassigned).toEqual([{ subscription: 'big', reason: 'no_capacity' }])
      expect(full.moves).toEqual([{ subscription: 'big', from: 'gone', to: null, reason: 'owner_gone' }])
      const three = [...capacities(5, 6), { instanceId: 'C', capacity: 3 }]
      const several = plan({ subscriptions: [...subscriptions.slice(0, 4), { name: 'big', weight: 5 }], instances: three, current })
      expect(several.unassigned).toEqual([])
      expect(taken(several.moves).map(({ reason }) => reason)).toEqual(['make_room', 'make_room'])
    })

    it('passes work along a chain where no single move would help', () => {
      // a may run on A and B, b on B and C, and so on: 4-3-2-1 is uneven, yet no neighbours are more than one apart.
      const places: Record<string, string> = { a: 'AB', b: 'BC', c: 'CD', d: 'D' }
      const mayRun = (id: string) => (name: string) => places[name[0] as string]?.includes(id) ?? false
      const instances = [...'ABCD'].map((instanceId) => ({ instanceId, mayRun: mayRun(instanceId) }))
      const current = new Map<string, string>()
      for (const [letter, id, count] of [
        ['a', 'A', 4],
        ['b', 'B', 3],
        ['c', 'C', 2],
        ['d', 'D', 1],
      ] as const)
        for (let i = 0; i < count; i += 1) current.set(`${letter}${i}`, id)
      const result = plan({ subscriptions: named(...current.keys()), instances, current })
      expect(Object.values(sizesOf(result)).sort()).toEqual([2, 2, 3, 3])
    })

    it('makes room for what fits nowhere else', () => {
      const instances = [
        { instanceId: 'A', capacity: 1 },
        { instanceId: 'B', capacity: 1, mayRun: (name: string) => name !== 'picky' },
      ]
      const result = plan({ subscriptions: named('easy', 'picky'), instances, current: new Map([['easy', 'A']]) })
      expect(result.moves).toEqual([
        { subscription: 'easy', from: 'A', to: 'B', reason: 'make_room' },
        { subscription: 'picky', from: null, to: 'A', reason: 'unowned' },
      ])
    })

    it('tries again what did not fit after balancing has made room', () => {
      const lights = numbered(5).map((subscription) => ({ ...subscription, weight: 2 }))
      const instances = [
        { instanceId: 'A', capacity: 10 },
        { instanceId: 'B', mayRun: (name: string) => name !== 'heavy' },
      ]
      const subscriptions = [...lights, { name: 'heavy', weight: 4 }]
      const result = plan({ subscriptions, instances, current: new Map(allTo('A', lights)) })
      expect(result.unassigned).toEqual([])
      expect(plan({ subscriptions, instances, current: ownersOf(result) }).moves).toEqual([])
    })

    it('tells a mayRun that is a method who it belongs to', () => {
      class Labelled {
        readonly instanceId: string
        readonly #label: string
        constructor(instanceId: string, label: string) {
          this.instanceId = instanceId
          this.#label = label
        }
        mayRun(name: string): boolean {
          return name.startsWith(this.#label)
        }
      }
      const result = plan({ subscriptions: named('x1', 'y1'), instances: [new Labelled('A', 'y'), new Labelled('B', 'x')] })
      expect(ownersOf(result)).toEqual(
        new Map([
          ['y1', 'A'],
          ['x1', 'B'],
        ]),
      )
    })
  })

  describe('with pins', () => {
    it('moves nothing that is held by an instance not heard from yet (A7)', () => {
      const subscriptions = numbered(50)
      const current = new Map(subscriptions.map(({ name }, i) => [name, `w${i % 5}`]))
      const pinned = new Map(
        [...current].filter(([, id]) => id === 'w3' || id === 'w4').map(([name]) => [name, 'holder not heard from yet']),
      )
      const early = plan({ subscriptions, instances: called('w1', 'w2'), current, pinned })
      expect(early.moves.map(({ from }) => from)).toEqual(Array(10).fill('w0'))
      expect(early.pinned).toHaveLength(20)
      expect(early.pinned[0]).toEqual({ subscription: 's13', instanceId: 'w3', reason: 'holder not heard from yet' })
      expect(early.unassigned).toEqual([])
      const late = plan({ subscriptions, instances: called('w1', 'w2', 'w3', 'w4'), current })
      expect(late.moves).toHaveLength(10)
      expect(taken(late.moves)).toEqual([])
    })

    it('leaves a pinned subscription where it is against capacity, exclusion and balance, and counts it as load', () => {
      const subscriptions = numbered(4)
      const instances = [{ instanceId: 'A', capacity: 1, mayRun: () => false }, ...called('B')]
      const pinned = new Map(subscriptions.map(({ name }) => [name, 'stopping']))
      const result = plan({
        subscriptions: [...subscriptions, { name: 'x' }],
        instances,
        current: new Map(allTo('A', subscriptions)),
        pinned,
      })
      expect(sizesOf(result)).toEqual({ A: 4, B: 1 })
      expect(result.movesHeldBack).toBe(false)
    })

    it('gives a pinned subscription without an owner to nobody', () => {
      const result = plan({ subscriptions: named('x'), instances: called('A'), pinned: new Map([['x', 'old owner still reports it']]) })
      expect(plain(result)).toMatchObject({ assignments: [['A', []]], moves: [], unassigned: [] })
      expect(result.pinned).toEqual([{ subscription: 'x', instanceId: null, reason: 'old owner still reports it' }])
    })
  })

  describe('with a limit on moves', () => {
    it('spreads a rebalance over several plans', () => {
      const subscriptions = numbered(30)
      let current = new Map(subscriptions.map(({ name }, i) => [name, 'AB'[i % 2] as string]))
      const rounds: [number, boolean][] = []
      for (let i = 0; i < 4; i += 1) {
        const result = plan({ subscriptions, instances: called('A', 'B', 'C'), current, maxMoves: 4 })
        rounds.push([result.moves.length, result.movesHeldBack])
        current = ownersOf(result)
      }
      expect(rounds).toEqual([
        [4, true],
        [4, true],
        [2, false],
        [0, false],
      ])
    })

    it('never holds back what has no owner, nor what its owner may not have, but counts the latter', () => {
      const subscriptions = numbered(12)
      const instances = [{ instanceId: 'A', capacity: 8 }, ...called('B')]
      const current = new Map(allTo('A', subscriptions.slice(0, 10)))
      const result = plan({ subscriptions, instances, current, maxMoves: 1 })
      expect(result.moves.map(({ reason }) => reason)).toEqual(['over_capacity', 'unowned', 'unowned', 'over_capacity'])
      expect(result.movesHeldBack).toBe(true)
      expect(plan({ subscriptions, instances, current, maxMoves: 0 }).moves).toHaveLength(4)
      expect(sizesOf(plan({ subscriptions, instances, current, maxMoves: 4 }))).toEqual({ A: 6, B: 6 })
    })
  })

  it('does not cut a chain that only helps as a whole, but gives it a plan to itself', () => {
    // picky fits on A alone, x may leave for B and y for C.
    const places: Record<string, string> = { picky: 'A', x: 'AB', y: 'BC' }
    const instances = [...'ABCD'].map((instanceId) => ({
      instanceId,
      capacity: 1,
      mayRun: (name: string) => (places[name] ?? 'D').includes(instanceId),
    }))
    const subscriptions = named('picky', 'x', 'y')
    const current = new Map([
      ['x', 'A'],
      ['y', 'B'],
    ])
    const chain = plan({ subscriptions, instances, current, maxMoves: 1 })
    expect(chain.moves.map(({ subscription, to }) => `${subscription}${to}`)).toEqual(['pickyA', 'xB', 'yC'])
    expect(plan({ subscriptions, instances, current, maxMoves: 0 })).toMatchObject({
      unassigned: [{ reason: 'no_capacity' }],
      movesHeldBack: true,
    })
    const withHardMove = {
      subscriptions: [...subscriptions, { name: 'z' }],
      instances,
      current: new Map([...current, ['z', 'B']]),
      maxMoves: 1,
    }
    expect(plan(withHardMove).moves.map(({ subscription, reason }) => `${subscription} ${reason}`)).toEqual(['z not_allowed'])
  })

  it.each([
    ['an empty name', { subscriptions: named('') }, /every subscription name must be non-empty/],
    ['a name listed twice', { subscriptions: named('x', 'x') }, /every subscription name must be unique: list each one once, got "x"/],
    ['an empty id', { instances: called('') }, /every instanceId must be non-empty/],
    ['an id listed twice', { instances: called('A', 'A') }, /every instanceId must be unique/],
    [
      'a negative weight',
      { subscriptions: [{ name: 'x', weight: -1 }] },
      /the weight of subscription "x" must be a finite number above 0 .*, got -1/,
    ],
    ['a weight of NaN', { subscriptions: [{ name: 'x', weight: Number.NaN }] }, /leave it out for 1\), got NaN/],
    ['a weight of zero', { subscriptions: [{ name: 'x', weight: 0 }] }, /above 0/],
    [
      'weights beyond any sum',
      {
        subscriptions: [
          { name: 'x', weight: 1e308 },
          { name: 'y', weight: 1e308 },
        ],
      },
      /divide them all/,
    ],
    [
      'a negative capacity',
      { instances: [{ instanceId: 'A', capacity: -1 }] },
      /the capacity of instance "A" must be a number of at least 0/,
    ],
    ['a capacity of NaN', { instances: [{ instanceId: 'A', capacity: Number.NaN }] }, /leave it out for no limit/],
    ['a fraction of a move', { maxMoves: 0.5 }, /maxMoves must be a whole number/],
    ['a negative limit', { maxMoves: -1 }, /maxMoves must be a whole number of at least 0/],
  ])('refuses %s', (_, input, message) => {
    expect(() => plan(input)).toThrow(message)
    expect(() => plan(input)).toThrow(expect.objectContaining({ code: 'invalid_options' }))
    expect(() => plan(input)).toThrow(CoordinationError)
  })

  it('passes on what mayRun throws', () => {
    const mayRun = (): boolean => {
      throw new Error('no such label')
    }
    expect(() => plan({ subscriptions: named('x'), instances: [{ instanceId: 'A', mayRun }] })).toThrow('no such label')
  })
})
