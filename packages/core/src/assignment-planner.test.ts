import { readdirSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { AssignmentPlan, AssignmentPlannerInput, PlannedInstance, PlannedMove, PlannedSubscription } from './assignment-planner.js'
import { readPlannerInput } from './assignment-planner-input.js'
import { stickyPlanner } from './assignment-planner-sticky.js'
import { CoordinationError } from './errors.js'

const named = (...names: string[]): PlannedSubscription[] => names.map((name) => ({ name }))
const numbered = (count: number, prefix = 's'): PlannedSubscription[] => named(...Array.from({ length: count }, (_, i) => `${prefix}${i}`))
const called = (...ids: string[]): PlannedInstance[] => ids.map((instanceId) => ({ instanceId }))
const plan = (input: Partial<AssignmentPlannerInput>): AssignmentPlan =>
  stickyPlanner({ subscriptions: [], instances: [], current: new Map(), ...input })
const ownersOf = ({ assignments }: AssignmentPlan): Map<string, string> =>
  new Map([...assignments].flatMap(([id, names]) => names.map((name) => [name, id] as const)))
const sizesOf = ({ assignments }: AssignmentPlan): Record<string, number> =>
  Object.fromEntries([...assignments].map(([id, names]) => [id, names.length]))
const allTo = (id: string, subscriptions: readonly PlannedSubscription[]): [string, string][] => subscriptions.map(({ name }) => [name, id])
const plain = (result: AssignmentPlan) => ({ ...result, assignments: [...result.assignments] })
const taken = (moves: readonly PlannedMove[]): PlannedMove[] =>
  moves.filter(({ reason }) => reason !== 'unowned' && reason !== 'owner_gone')

describe('the sticky planner', () => {
  it('gives everything an owner, sorted and by reason', () => {
    const result = plan({ subscriptions: named('c', 'a', 'b'), instances: called('B', 'A'), current: new Map([['b', 'gone']]) })
    expect(plain(result)).toEqual({
      assignments: [
        ['A', ['a', 'c']],
        ['B', ['b']],
      ],
      moves: [
        { subscription: 'a', from: null, to: 'A', reason: 'unowned' },
        { subscription: 'b', from: 'gone', to: 'B', reason: 'owner_gone' },
        { subscription: 'c', from: null, to: 'A', reason: 'unowned' },
      ],
      unassigned: [],
      pinned: [],
      movesHeldBack: false,
    })
  })

  it('moves exactly ten of thirty to a third instance, and none between the old two (A2)', () => {
    const subscriptions = numbered(30)
    const before = plan({ subscriptions, instances: called('A', 'B') })
    const after = plan({ subscriptions, instances: called('A', 'B', 'C'), current: ownersOf(before) })
    expect(sizesOf(before)).toEqual({ A: 15, B: 15 })
    expect(sizesOf(after)).toEqual({ A: 10, B: 10, C: 10 })
    expect(after.moves).toHaveLength(10)
    expect(new Set(after.moves.map(({ to, reason }) => `${to} ${reason}`))).toEqual(new Set(['C balance']))
  })

  it('reaches two and two when a second instance joins (A2)', () => {
    const subscriptions = numbered(4)
    const result = plan({ subscriptions, instances: called('A', 'B'), current: new Map(allTo('A', subscriptions)) })
    expect(sizesOf(result)).toEqual({ A: 2, B: 2 })
    expect(result.moves).toHaveLength(2)
  })

  it('plans the same for every order of the input, and never asks a locale (A2)', () => {
    vi.spyOn(String.prototype, 'localeCompare').mockImplementation(() => {
      throw new Error('localeCompare depends on the machine')
    })
    vi.spyOn(Intl, 'Collator').mockImplementation(function Collator(): never {
      throw new Error('Intl.Collator depends on the machine')
    })
    const names = ['a-Z', 'a-a', 'ä', 'Ö', '10', '9']
    // In code units 'Ö' (D6) comes before 'ä' (E4); in Swedish 'ä' comes before 'ö', and in German 'ä' next to 'a'.
    for (const order of [names, names.toReversed(), [...names.slice(3), ...names.slice(0, 3)]]) {
      const result = plan({ subscriptions: named(...order), instances: called(...order), current: new Map([['ä', '10']]) })
      expect([...result.assignments]).toEqual([
        ['10', ['ä']],
        ['9', ['10']],
        ['a-Z', ['9']],
        ['a-a', ['a-Z']],
        ['Ö', ['a-a']],
        ['ä', ['Ö']],
      ])
    }
  })

  it('has no source file that could ask a locale', () => {
    const files = readdirSync(import.meta.dirname).filter((file) => /^(assignment-planner|subscription-diff).*(?<!\.test)\.ts$/.test(file))
    expect(files.length).toBeGreaterThan(5)
    for (const file of files) expect(readFileSync(`${import.meta.dirname}/${file}`, 'utf8'), file).not.toMatch(/locale\w*\(|Intl\./i)
  })

  describe('in a rolling restart of three workers with sixty subscriptions (A1)', () => {
    const subscriptions = numbered(60)
    const start = plan({ subscriptions, instances: called('A', 'B', 'C') })

    it('moves only the work of the leaver, to a replacement that joins in the same plan', () => {
      let result = start
      for (const [leaver, joiner] of ['AD', 'BE', 'CF'].map((pair) => [...pair] as [string, string])) {
        const ids = [...result.assignments.keys()].map((id) => (id === leaver ? joiner : id))
        const work = result.assignments.get(leaver) as string[]
        result = plan({ subscriptions, instances: called(...ids), current: ownersOf(result) })
        expect(result.moves.map(({ subscription }) => subscription)).toEqual(work)
        expect(new Set(result.moves.map(({ from, to }) => `${from}${to}`))).toEqual(new Set([leaver + joiner]))
      }
      expect(sizesOf(result)).toEqual({ D: 20, E: 20, F: 20 })
    })

    it('moves only the work of the leaver, there and back, when told where it was before', () => {
      let result = start
      for (const leaver of ['A', 'B', 'C']) {
        const work = result.assignments.get(leaver) as string[]
        const preferred = ownersOf(result)
        const without = plan({ subscriptions, instances: called(...'ABC'.replace(leaver, '')), current: ownersOf(result), preferred })
        expect(without.moves.map(({ subscription }) => subscription)).toEqual(work)
        const again = plan({ subscriptions, instances: called(...'ABC'), current: ownersOf(without), preferred })
        expect(again.moves.map(({ subscription }) => subscription)).toEqual(work)
        result = again
      }
      expect(plain(result).assignments).toEqual(plain(start).assignments)
    })

    it('moves twenty there and twenty back when told nothing', () => {
      const without = plan({ subscriptions, instances: called('B', 'C'), current: ownersOf(start) })
      expect(sizesOf(without)).toEqual({ B: 30, C: 30 })
      expect(taken(without.moves)).toEqual([])
      const again = plan({ subscriptions, instances: called('A', 'B', 'C'), current: ownersOf(without) })
      expect(sizesOf(again)).toEqual({ A: 20, B: 20, C: 20 })
      expect(again.moves.map(({ to }) => to)).toEqual(Array(20).fill('A'))
    })
  })

  describe('at the edges (A8)', () => {
    it('leaves everything visible when there is no instance', () => {
      const result = plan({ subscriptions: numbered(2), current: new Map([['s0', 'gone']]) })
      expect(plain(result)).toMatchObject({
        assignments: [],
        moves: [{ subscription: 's0', from: 'gone', to: null, reason: 'owner_gone' }],
        unassigned: [
          { subscription: 's0', reason: 'no_instance' },
          { subscription: 's1', reason: 'no_instance' },
        ],
      })
    })

    it('lists every instance when there is nothing to do, or less than one each', () => {
      expect(plain(plan({ instances: called('B', 'A') })).assignments).toEqual([
        ['A', []],
        ['B', []],
      ])
      expect(sizesOf(plan({ subscriptions: named('x'), instances: called('A', 'B', 'C') }))).toEqual({ A: 1, B: 0, C: 0 })
      expect(plain(plan({})).assignments).toEqual([])
    })

    it('treats ids such as __proto__ like any other', () => {
      const ids = ['__proto__', 'constructor', 'toString', 'hasOwnProperty']
      const result = plan({ subscriptions: named(...ids), instances: called(...ids), current: new Map([['toString', '__proto__']]) })
      expect([...result.assignments]).toEqual([
        ['__proto__', ['toString']],
        ['constructor', ['__proto__']],
        ['hasOwnProperty', ['constructor']],
        ['toString', ['hasOwnProperty']],
      ])
    })

    it('ignores what is current for unknown subscriptions', () => {
      const result = plan({ subscriptions: named('x'), instances: called('A'), current: new Map([['old', 'A']]) })
      expect(ownersOf(result)).toEqual(new Map([['x', 'A']]))
    })

    it('freezes what it returns and changes nothing it was given', () => {
      const input = Object.freeze({
        subscriptions: Object.freeze(numbered(3)),
        instances: Object.freeze(called('A')),
        current: new Map([['s1', 'B']]),
      })
      const result = stickyPlanner(input)
      expect(
        [result, result.moves, result.moves[0], result.unassigned, result.pinned, result.assignments.get('A')].every(Object.isFrozen),
      ).toBe(true)
      expect(input.current).toEqual(new Map([['s1', 'B']]))
    })
  })

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
        constructor(
          readonly instanceId: string,
          readonly label: string,
        ) {}
        mayRun = (name: string): boolean => name.startsWith(this.label)
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

  it('prefers an instance only among equally good plans', () => {
    const subscriptions = numbered(4)
    const preferred = new Map([...allTo('B', subscriptions), ['s3', 'nobody']] as [string, string][])
    const result = plan({ subscriptions, instances: called('A', 'B'), preferred })
    expect(sizesOf(result)).toEqual({ A: 2, B: 2 })
    const settled = plan({
      subscriptions,
      instances: called('A', 'B'),
      current: ownersOf(result),
      preferred: new Map(allTo('A', subscriptions)),
    })
    expect(settled.moves).toEqual([])
    const uneven = [
      { name: 'a', weight: 100 },
      { name: 'b', weight: 98 },
      { name: 'x', weight: 2 },
    ]
    const current = new Map([
      ['a', 'A'],
      ['b', 'B'],
    ])
    const crowded = plan({ subscriptions: uneven, instances: called('A', 'B'), current, preferred: new Map([['x', 'A']]) })
    expect(ownersOf(crowded).get('x')).toBe('B')
  })

  it('gives away first what does not prefer to stay, and to whom it prefers', () => {
    const subscriptions = numbered(6)
    const preferred = new Map([
      ['s0', 'B'],
      ['s3', 'A'],
      ['s4', 'A'],
      ['s5', 'A'],
    ])
    const result = plan({ subscriptions, instances: called('A', 'B'), current: new Map(allTo('A', subscriptions)), preferred })
    expect(result.assignments.get('B')).toEqual(['s0', 's1', 's2'])
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

  afterEach(() => {
    vi.restoreAllMocks()
  })
})

describe('for any input, the sticky planner', () => {
  const SEED = 20260101
  const check = <T>(arbitrary: fc.Arbitrary<T>, property: (value: T) => void, numRuns = 500): void =>
    fc.assert(fc.property(arbitrary, property), { seed: SEED, numRuns })

  interface Case {
    readonly weights: readonly number[]
    /** By instance: capacity and, by subscription, whether it may run it. */
    readonly instances: readonly { readonly capacity: number; readonly allows: readonly boolean[] }[]
    /** By subscription: index of an instance, or one beyond for nobody or somebody gone. */
    readonly owners: readonly number[]
  }

  const cases = ({
    items,
    instances,
    weight = fc.constant(1),
    capacity = fc.constant(Number.POSITIVE_INFINITY),
    allowed = fc.constant(true),
  }: {
    items: number
    instances: number
    weight?: fc.Arbitrary<number>
    capacity?: fc.Arbitrary<number>
    allowed?: fc.Arbitrary<boolean>
  }): fc.Arbitrary<Case> =>
    fc.tuple(fc.integer({ min: 0, max: items }), fc.integer({ min: 1, max: instances })).chain(([n, k]) =>
      fc.record({
        weights: fc.array(weight, { minLength: n, maxLength: n }),
        instances: fc.array(fc.record({ capacity, allows: fc.array(allowed, { minLength: n, maxLength: n }) }), {
          minLength: k,
          maxLength: k,
        }),
        // Low indexes more often, so that one-sided starts occur.
        owners: fc.array(fc.oneof(fc.integer({ min: 0, max: k + 1 }), fc.integer({ min: 0, max: 1 })), { minLength: n, maxLength: n }),
      }),
    )

  const name = (item: number): string => `s${String(item).padStart(3, '0')}`
  const inputOf = ({ weights, instances, owners }: Case): AssignmentPlannerInput => ({
    subscriptions: weights.map((weight, item) => ({ name: name(item), weight })),
    instances: instances.map(({ capacity, allows }, index) => ({
      instanceId: `i${index}`,
      capacity,
      mayRun: (subscription) => allows[Number(subscription.slice(1))] as boolean,
    })),
    current: new Map(owners.flatMap((owner, item) => (owner > instances.length ? [] : [[name(item), `i${owner}`]]))),
  })
  const loadsOf = (input: AssignmentPlannerInput, result: AssignmentPlan): number[] => {
    const weights = new Map(input.subscriptions.map((subscription) => [subscription.name, subscription.weight ?? 1]))
    return [...result.assignments.values()].map((names) => names.reduce((sum, each) => sum + (weights.get(each) ?? Number.NaN), 0))
  }
  // Their sums depend on the order of the additions.
  const tenths = fc.integer({ min: 1, max: 40 }).map((n) => n / 10)
  const anything = {
    items: 24,
    instances: 6,
    weight: fc.oneof(fc.constantFrom(1, 2, 3), tenths, fc.double({ min: 0.01, max: 10, noNaN: true })),
    capacity: fc.oneof(fc.constant(Number.POSITIVE_INFINITY), tenths, fc.double({ min: 0, max: 30, noNaN: true })),
    allowed: fc.integer({ min: 0, max: 3 }).map((n) => n > 0),
  }

  it('keeps every hard rule, accounts for every subscription once, and explains every change', () => {
    check(fc.tuple(cases(anything), fc.constantFrom(0, 1, 2, 5, Number.POSITIVE_INFINITY)), ([example, maxMoves]) => {
      const input = { ...inputOf(example), maxMoves }
      const result = stickyPlanner(input)
      const owners = ownersOf(result)
      const all = [...owners.keys(), ...result.unassigned.map(({ subscription }) => subscription)]
      expect(all.toSorted()).toEqual(input.subscriptions.map((subscription) => subscription.name))
      const byId = new Map(input.instances.map((instance) => [instance.instanceId, instance]))
      for (const [subscription, id] of owners) expect(byId.get(id)?.mayRun?.(subscription)).toBe(true)
      for (const [index, load] of loadsOf(input, result).entries()) {
        expect(load).toBeLessThanOrEqual((example.instances[index]?.capacity ?? 0) * (1 + 1e-8))
      }
      const changed = input.subscriptions.filter((each) => (input.current.get(each.name) ?? null) !== (owners.get(each.name) ?? null))
      expect(result.moves.map(({ subscription }) => subscription)).toEqual(changed.map((each) => each.name))
      for (const { subscription, from, to } of result.moves) {
        expect([from, to]).toEqual([input.current.get(subscription) ?? null, owners.get(subscription) ?? null])
      }
      const hard = hardMovesOf(example)
      // A chain passes each instance once at most, so this is the longest that may exceed the limit, alone.
      const longestChain = maxMoves > 0 && hard === 0 ? input.instances.length - 1 : 0
      expect(taken(result.moves).length).toBeLessThanOrEqual(Math.max(maxMoves, hard, longestChain))
    })
  })

  it('moves nothing when asked again', () => {
    check(
      cases(anything),
      (example) => {
        const input = inputOf(example)
        const first = stickyPlanner(input)
        const second = stickyPlanner({ ...input, current: ownersOf(first) })
        expect(second.moves).toEqual([])
        expect(plain(second).assignments).toEqual(plain(first).assignments)
        expect(second.unassigned).toEqual(first.unassigned)
      },
      2000,
    )
  })

  it('adds weights up without rounding, so that the order of moves leaves no trace', () => {
    check(fc.array(fc.oneof(tenths, fc.double({ min: 1e-12, max: 1e12, noNaN: true })), { minLength: 1, maxLength: 50 }), (weights) => {
      const subscriptions = weights.map((weight, item) => ({ name: name(item), weight }))
      const { weight } = readPlannerInput({ subscriptions, instances: [], current: new Map() })
      const sum = (values: Iterable<number>): number => [...values].reduce((total, value) => total + value, 0)
      expect(sum(weight.toReversed())).toBe(sum(weight))
      expect(sum(weight.toSorted())).toBe(sum(weight))
      for (const [item, value] of weights.entries())
        expect(Math.abs((weight[item] as number) - value)).toBeLessThanOrEqual(sum(weights) * 1e-15)
    })
  })

  it('gives the same plan for any order of subscriptions, instances and owners', () => {
    check(fc.tuple(cases(anything), fc.infiniteStream(fc.nat())), ([example, random]) => {
      const shuffled = <T>(values: Iterable<T>): T[] =>
        [...values]
          .map((value) => [random.next().value, value] as const)
          .sort(([a], [b]) => a - b)
          .map(([, value]) => value)
      const input = inputOf(example)
      const other = {
        subscriptions: shuffled(input.subscriptions),
        instances: shuffled(input.instances),
        current: new Map(shuffled(input.current)),
      }
      expect(plain(stickyPlanner(other))).toEqual(plain(stickyPlanner(input)))
    })
  })

  it('differs by at most one and makes the fewest moves with equal weights', () => {
    check(
      cases({ items: 60, instances: 8, weight: fc.constant(0.7) }),
      (example) => {
        const input = inputOf(example)
        const result = stickyPlanner(input)
        const sizes = Object.values(sizesOf(result))
        expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1)
        // Independent of the planner: an instance may keep floor(n/k), and n mod k of those that have more may keep one more.
        const before = example.instances.map((_, index) => example.owners.filter((owner) => owner === index).length)
        const floor = Math.floor(example.weights.length / before.length)
        const above = before.map((size) => Math.max(size - floor, 0))
        const keepOneMore = Math.min(example.weights.length % before.length, above.filter((size) => size > 0).length)
        expect(taken(result.moves)).toHaveLength(above.reduce((sum, size) => sum + size, 0) - keepOneMore)
      },
      2000,
    )
  })

  it('bounds the difference of loads by the lightest weight on the fuller instance or 5 % of the mean, and so by the heaviest weight', () => {
    check(
      cases({ ...anything, capacity: fc.constant(Number.POSITIVE_INFINITY), allowed: fc.constant(true) }),
      (example) => {
        const input = inputOf(example)
        const result = stickyPlanner(input)
        const loads = loadsOf(input, result)
        const mean = loads.reduce((sum, load) => sum + load, 0) / loads.length
        const heaviest = Math.max(0, ...example.weights)
        ;[...result.assignments.values()].forEach((names, index) => {
          if (names.length === 0) return
          const lightest = Math.min(...names.map((each) => example.weights[Number(each.slice(1))] as number))
          const gap = (loads[index] as number) - Math.min(...loads)
          expect(gap).toBeLessThanOrEqual(Math.max(lightest, Math.min(heaviest, 0.05 * mean)) + 1e-6)
        })
      },
      1000,
    )
  })

  it('finds the best balance and places the most that exclusions and capacities allow, with equal weights', () => {
    check(
      cases({ items: 6, instances: 3, capacity: fc.constantFrom(1, 2, 3, Number.POSITIVE_INFINITY), allowed: fc.boolean() }),
      (example) => {
        const sizes = Object.values(sizesOf(stickyPlanner(inputOf(example))))
        expect(scoreOf(sizes)).toEqual(bestPlan(example).score)
      },
      1500,
    )
  })

  it('makes the fewest moves with equal weights and capacities', () => {
    check(
      cases({ items: 6, instances: 3, capacity: fc.constantFrom(0, 1, 2, 3, Number.POSITIVE_INFINITY) }),
      (example) => {
        expect(taken(stickyPlanner(inputOf(example)).moves)).toHaveLength(bestPlan(example).taken)
      },
      1500,
    )
  })

  it('gets to the same balance in rounds as at once, whatever the limit on moves', () => {
    check(
      fc.tuple(cases({ ...anything, weight: fc.constant(1), items: 12, instances: 4 }), fc.integer({ min: 1, max: 3 })),
      ([example, maxMoves]) => {
        const input = inputOf(example)
        const atOnce = scoreOf(Object.values(sizesOf(stickyPlanner(input))))
        let result = stickyPlanner({ ...input, maxMoves })
        for (let round = 0; result.movesHeldBack && round < 50; round += 1) {
          result = stickyPlanner({ ...input, maxMoves, current: ownersOf(result) })
        }
        expect(result.movesHeldBack).toBe(false)
        expect(scoreOf(Object.values(sizesOf(result)))).toEqual(atOnce)
      },
    )
  })

  /** The fewest subscriptions that the exclusions and capacities take from their owners. */
  function hardMovesOf({ weights, instances, owners }: Case): number {
    return instances.reduce((count, { capacity, allows }, index) => {
      const owned = [...weights.keys()].filter((item) => owners[item] === index)
      const allowed = owned.filter((item) => allows[item]).map((item) => weights[item] as number)
      const kept = allowed.toSorted((a, b) => a - b)
      while (kept.reduce((sum, weight) => sum + weight, 0) > capacity * (1 + 1e-9)) kept.pop()
      return count + owned.length - kept.length
    }, 0)
  }

  function scoreOf(sizes: readonly number[]): { placed: number; squares: number } {
    return { placed: sizes.reduce((sum, size) => sum + size, 0), squares: sizes.reduce((sum, size) => sum + size * size, 0) }
  }

  /** Tries every assignment of a small case with equal weights: most placed first, then the evenest, then the fewest taken from owners. */
  function bestPlan({ weights, instances, owners }: Case): { score: { placed: number; squares: number }; taken: number } {
    const sizes = instances.map(() => 0)
    let best = { score: { placed: -1, squares: 0 }, taken: 0 }
    const visit = (item: number, takenAway: number): void => {
      if (item === weights.length) {
        const score = scoreOf(sizes)
        const difference = best.score.placed - score.placed || score.squares - best.score.squares || takenAway - best.taken
        if (difference < 0) best = { score, taken: takenAway }
        return
      }
      const owner = owners[item] as number
      visit(item + 1, takenAway + Number(owner < instances.length))
      instances.forEach(({ capacity, allows }, index) => {
        if (!allows[item] || (sizes[index] as number) + 1 > capacity) return
        sizes[index] = (sizes[index] as number) + 1
        visit(item + 1, takenAway + Number(owner < instances.length && owner !== index))
        sizes[index] = (sizes[index] as number) - 1
      })
    }
    visit(0, 0)
    return best
  }
})
