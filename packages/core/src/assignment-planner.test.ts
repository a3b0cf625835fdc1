import { readdirSync, readFileSync } from 'node:fs'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { allTo, called, named, numbered, ownersOf, plain, plan, sizesOf, taken } from './assignment-planner.test.harness.js'
import { stickyPlanner } from './assignment-planner-sticky.js'

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
    const files = readdirSync(import.meta.dirname).filter((file) => /^assignment-planner.*(?<!\.test)\.ts$/.test(file))
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

  afterEach(() => {
    vi.restoreAllMocks()
  })
})
