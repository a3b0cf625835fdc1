import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { diffSubscriptions, type SubscriptionDiff, type SubscriptionDiffInput } from './subscription-diff.js'
import { about, CLAIMS, cooperative, diff, leaving, NOW, RUNS, state, wanted } from './subscription-diff.test.harness.js'
import { afterSubscriptionEvent, IDLE_SUBSCRIPTION, type SubscriptionEvent, type SubscriptionState } from './subscription-diff-state.js'

describe('the state table, with claims', () => {
  //     claim        run          when wanted               when not wanted, or leaving
  it.each([
    ['none', 'none', 'claim', ''],
    ['requested', 'none', 'waiting:claim_answer', 'waiting:claim_answer'],
    ['held', 'none', 'start', 'release'],
    ['releasing', 'none', 'waiting:release_answer', 'waiting:release_answer'],
    ['none', 'running', 'stop:abort', 'stop:abort'],
    ['requested', 'running', 'stop:abort', 'stop:abort'],
    ['held', 'running', '', 'stop:revoke'],
    ['releasing', 'running', 'stop:abort', 'stop:abort'],
    ['none', 'revoked', 'stop:abort', 'stop:abort'],
    ['requested', 'revoked', 'stop:abort', 'stop:abort'],
    ['held', 'revoked', 'waiting:run_to_settle', 'waiting:run_to_settle'],
    ['releasing', 'revoked', 'stop:abort', 'stop:abort'],
    ['none', 'aborted', 'waiting:run_to_settle', 'waiting:run_to_settle'],
    ['requested', 'aborted', 'waiting:run_to_settle', 'waiting:run_to_settle'],
    ['held', 'aborted', 'waiting:run_to_settle', 'waiting:run_to_settle'],
    ['releasing', 'aborted', 'waiting:run_to_settle', 'waiting:run_to_settle'],
    ['none', 'given_up', 'waiting:run_to_settle', 'waiting:run_to_settle'],
    ['requested', 'given_up', 'waiting:run_to_settle', 'waiting:run_to_settle'],
    ['held', 'given_up', 'release', 'release'],
    ['releasing', 'given_up', 'waiting:run_to_settle', 'waiting:run_to_settle'],
  ] as const)('claim %s, run %s: %j when wanted, %j when not', (claim, run, whenWanted, whenNot) => {
    const x = state(claim, run)
    expect(about(x, wanted)).toBe(whenWanted)
    expect(about(x, {})).toBe(whenNot)
    expect(about(x, leaving)).toBe(whenNot)
  })
})

describe('the state table, with the cooperative rule', () => {
  //     run          wanted, nobody else       wanted, reported elsewhere  not wanted, or leaving
  it.each([
    ['none', 'start', 'waiting:other_owner', ''],
    ['running', '', '', 'stop:revoke'],
    ['revoked', 'waiting:run_to_settle', 'waiting:run_to_settle', 'waiting:run_to_settle'],
    ['aborted', 'waiting:run_to_settle', 'waiting:run_to_settle', 'waiting:run_to_settle'],
    ['given_up', 'waiting:run_to_settle', 'waiting:run_to_settle', 'waiting:run_to_settle'],
  ] as const)('run %s: %j when free, %j when reported elsewhere, %j when not wanted', (run, whenFree, whenReported, whenNot) => {
    const x = state('none', run)
    expect(about(x, { ...wanted, exclusivity: cooperative('y') })).toBe(whenFree)
    expect(about(x, { ...wanted, exclusivity: cooperative('x') })).toBe(whenReported)
    expect(about(x, { exclusivity: cooperative() })).toBe(whenNot)
    expect(about(x, { ...leaving, exclusivity: cooperative() })).toBe(whenNot)
  })
})

describe('waiting', () => {
  it.each([
    ['a denied claim', state('none', 'none', { retryAtSeconds: NOW + 1 }), 'waiting:retry'],
    ['a denied claim whose time has come', state('none', 'none', { retryAtSeconds: NOW }), 'claim'],
    ['a failed run, whose claim is kept', state('held', 'none', { retryAtSeconds: NOW + 1 }), 'waiting:retry'],
    ['a failed run whose time has come', state('held', 'none', { retryAtSeconds: NOW }), 'start'],
    ['a run with time left to end', state('held', 'revoked', { stopBySeconds: NOW + 1 }), 'waiting:run_to_settle'],
    ['a run that did not end in time', state('held', 'revoked', { stopBySeconds: NOW }), 'giveUp release'],
    ['an aborted run that did not end in time', state('none', 'aborted', { stopBySeconds: NOW }), 'giveUp'],
    ['a revoked run that lost its claim and its time', state('none', 'revoked', { stopBySeconds: NOW }), 'giveUp'],
  ])('knows %s', (_, x, expected) => {
    expect(about(x, wanted)).toBe(expected)
  })

  it('does not keep the claim of a failed run that is not wanted any more', () => {
    expect(about(state('held', 'none', { retryAtSeconds: NOW + 60 }), {})).toBe('release')
  })

  it('says when to ask again: at the earliest instant that ends a wait', () => {
    const states = new Map([
      ['a', state('none', 'none', { retryAtSeconds: NOW + 7 })],
      ['b', state('held', 'revoked', { stopBySeconds: NOW + 3 })],
      ['c', state('requested', 'none')],
    ])
    const result = diff({ desired: new Set(['a', 'c']), states })
    expect(result.nextDueAtSeconds).toBe(NOW + 3)
    expect(result.waiting).toEqual([
      { subscription: 'a', for: 'retry', untilSeconds: NOW + 7 },
      { subscription: 'b', for: 'run_to_settle', untilSeconds: NOW + 3 },
      { subscription: 'c', for: 'claim_answer', untilSeconds: null },
    ])
    expect(diff({}).nextDueAtSeconds).toBeNull()
  })
})

it('lists everything by code units, whatever the order of the input, and freezes it', () => {
  const names = ['ä', 'a', 'Ö', '__proto__', '10', '9']
  const expected = ['10', '9', '__proto__', 'a', 'Ö', 'ä']
  for (const order of [names, names.toReversed()]) {
    const all = (x: SubscriptionState): SubscriptionDiffInput['states'] => new Map(order.map((name) => [name, x]))
    expect(diff({ desired: new Set(order) }).claim).toEqual(expected)
    expect(diff({ states: all(state('held', 'none')) }).release).toEqual(expected)
    expect(diff({ states: all(state('held', 'running')) }).stop).toEqual(expected.map((subscription) => ({ subscription, how: 'revoke' })))
  }
  const result = diff({ desired: new Set(names), states: new Map([['old', state('held', 'running')]]) })
  expect([result, ...Object.values(result)].every(Object.isFrozen)).toBe(true)
})

describe('for any states', () => {
  const instant = fc.option(fc.integer({ min: NOW - 2, max: NOW + 2 }))
  const anyState: fc.Arbitrary<SubscriptionState> = fc
    .record({ claim: fc.constantFrom(...CLAIMS), run: fc.constantFrom(...RUNS), retryAtSeconds: instant, stopBySeconds: instant })
    .map((x) => (x.run === 'revoked' || x.run === 'aborted' ? x : { ...x, stopBySeconds: null }))
  const names = fc.constantFrom('a', 'b', 'c', '__proto__', 'constructor')
  const anyInput: fc.Arbitrary<SubscriptionDiffInput> = fc.record({
    desired: fc.uniqueArray(names).map((values) => new Set(values)),
    states: fc.uniqueArray(fc.tuple(names, anyState), { selector: ([name]) => name }).map((entries) => new Map(entries)),
    isShuttingDown: fc.boolean(),
    nowSeconds: fc.constant(NOW),
    exclusivity: fc.oneof(
      fc.constant({ kind: 'claims' as const }),
      fc.uniqueArray(names).map((values) => cooperative(...values)),
    ),
  })
  const check = (property: (input: SubscriptionDiffInput) => void): void =>
    fc.assert(fc.property(anyInput, property), { seed: 20260101, numRuns: 3000 })
  const stateOf = (input: SubscriptionDiffInput, name: string): SubscriptionState => input.states.get(name) ?? IDLE_SUBSCRIPTION
  const isClaims = (input: SubscriptionDiffInput): boolean => input.exclusivity.kind === 'claims'

  it('starts only what is wanted, has settled, is claimed or free, and is due (R1, R2, R4, R6, R7)', () => {
    check((input) => {
      for (const name of diffSubscriptions(input).start) {
        const { claim, run, retryAtSeconds } = stateOf(input, name)
        expect(input.desired.has(name) && !input.isShuttingDown).toBe(true)
        expect(run).toBe('none')
        expect(retryAtSeconds ?? NOW).toBeLessThanOrEqual(NOW)
        if (input.exclusivity.kind === 'claims') expect(claim).toBe('held')
        else expect(input.exclusivity.reportedElsewhere.has(name)).toBe(false)
      }
    })
  })

  it('claims only with claims, and only what is wanted, settled and due (R2, R4, R6, R7)', () => {
    check((input) => {
      for (const name of diffSubscriptions(input).claim) {
        const { claim, run, retryAtSeconds } = stateOf(input, name)
        expect([isClaims(input), input.desired.has(name), input.isShuttingDown]).toEqual([true, true, false])
        expect([claim, run]).toEqual(['none', 'none'])
        expect(retryAtSeconds ?? NOW).toBeLessThanOrEqual(NOW)
      }
    })
  })

  it('releases only what is held and has settled or is given up (R3)', () => {
    check((input) => {
      const result = diffSubscriptions(input)
      for (const name of result.release) {
        const { claim, run } = stateOf(input, name)
        expect(claim).toBe('held')
        expect(run === 'none' || run === 'given_up' || result.giveUp.includes(name)).toBe(true)
      }
    })
  })

  it('lets no run go on without a claim, nor unwanted (R1, R5)', () => {
    check((input) => {
      const { stop } = diffSubscriptions(input)
      const stopped = new Map(stop.map(({ subscription, how }) => [subscription, how]))
      for (const [name, { claim, run }] of input.states) {
        if (run !== 'running') continue
        const isWanted = input.desired.has(name) && !input.isShuttingDown
        const expected = isClaims(input) && claim !== 'held' ? 'abort' : isWanted ? undefined : 'revoke'
        expect(stopped.get(name)).toBe(expected)
      }
    })
  })

  it('yields nothing new once it has been carried out (R8)', () => {
    check((input) => {
      const after = carryOut(input, diffSubscriptions(input), NOW + 1)
      const again = diffSubscriptions(after)
      expect([again.stop, again.giveUp, again.release, again.claim, again.start]).toEqual([[], [], [], [], []])
    })
  })

  it('mentions every subscription that is neither idle nor as it should be', () => {
    check((input) => {
      const { stop, giveUp, release, claim, start, waiting } = diffSubscriptions(input)
      const mentioned = new Set([
        ...[...stop, ...waiting].map(({ subscription }) => subscription),
        ...giveUp,
        ...release,
        ...claim,
        ...start,
      ])
      for (const name of new Set([...input.desired, ...input.states.keys()])) {
        const { claim: held, run } = stateOf(input, name)
        const isWanted = input.desired.has(name) && !input.isShuttingDown
        const isRight = isWanted ? run === 'running' && (held === 'held' || !isClaims(input)) : run === 'none' && held === 'none'
        expect(mentioned.has(name)).toBe(!isRight)
      }
    })
  })

  it('ends with nothing held and nothing running after any history and a shutdown', () => {
    const event = fc.constantFrom<SubscriptionEvent>(
      { type: 'claim_granted' },
      { type: 'claim_denied', retryAtSeconds: NOW + 2 },
      { type: 'claim_lost' },
      { type: 'released' },
      { type: 'run_settled', retryAtSeconds: null },
      { type: 'run_settled', retryAtSeconds: NOW + 2 },
    )
    const history = fc.array(fc.tuple(names, event, fc.uniqueArray(names), fc.nat(3)), { maxLength: 60 })
    fc.assert(
      fc.property(history, (steps) => {
        let now = NOW
        let input: SubscriptionDiffInput = {
          desired: new Set(),
          states: new Map(),
          isShuttingDown: false,
          nowSeconds: now,
          exclusivity: { kind: 'claims' },
        }
        const step = (): void => {
          input = carryOut(input, diffSubscriptions(input), now + 3)
          // R1 and R2 hold at every moment: what works was started under a claim, and has one or was told.
          for (const { claim, run } of input.states.values()) if (run === 'running') expect(claim).toBe('held')
        }
        for (const [name, happened, desired, seconds] of steps) {
          now += seconds
          const states = new Map(input.states).set(name, afterSubscriptionEvent(stateOf(input, name), happened))
          input = { ...input, states, desired: new Set(desired), nowSeconds: now }
          step()
        }
        input = { ...input, isShuttingDown: true }
        for (let i = 0; i < 6; i += 1) {
          step()
          now += 3
          const answered = [...input.states].map(([name, x]) => [name, answer(x)] as const)
          input = { ...input, nowSeconds: now, states: new Map(answered) }
        }
        for (const { claim, run } of input.states.values()) expect([claim, run === 'none' || run === 'given_up']).toEqual(['none', true])
        expect(diffSubscriptions(input)).toMatchObject({ stop: [], giveUp: [], release: [], claim: [], start: [] })
      }),
      { seed: 20260101, numRuns: 1000 },
    )
  })

  /** The backend answers; the user's code never ends. */
  function answer(x: SubscriptionState): SubscriptionState {
    return afterSubscriptionEvent(afterSubscriptionEvent(x, { type: 'claim_granted' }), { type: 'released' })
  }

  function carryOut(input: SubscriptionDiffInput, result: SubscriptionDiff, stopBySeconds: number): SubscriptionDiffInput {
    const states = new Map(input.states)
    const tell = (name: string, event: SubscriptionEvent): void => {
      states.set(name, afterSubscriptionEvent(states.get(name) ?? IDLE_SUBSCRIPTION, event))
    }
    for (const { subscription, how } of result.stop) tell(subscription, { type: how === 'revoke' ? 'revoked' : 'aborted', stopBySeconds })
    for (const name of result.giveUp) tell(name, { type: 'given_up' })
    for (const name of result.release) tell(name, { type: 'release_requested' })
    for (const name of result.claim) tell(name, { type: 'claim_requested' })
    for (const name of result.start) tell(name, { type: 'run_started' })
    return { ...input, states }
  }
})
