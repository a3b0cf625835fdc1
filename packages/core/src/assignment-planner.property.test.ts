import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AssignmentPlan, AssignmentPlannerInput } from './assignment-planner.js'
import { ownersOf, plain, sizesOf, taken } from './assignment-planner.test.harness.js'
import { readPlannerInput } from './assignment-planner-input.js'
import { stickyPlanner } from './assignment-planner-sticky.js'

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
      1000,
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
