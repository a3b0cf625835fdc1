import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nextSubscriptionStep, type SubscriptionFacts, type SubscriptionStep } from './subscription-step.js'

/** A subscription that has nothing to do with this instance, where claims may be tried. */
const IDLE: SubscriptionFacts = {
  isDesired: false,
  run: null,
  isOverdue: false,
  hasAbandonedRun: false,
  isOurs: false,
  isBusy: false,
  mayClaim: true,
  mayRelease: false,
  mayStart: true,
}
const HELD = { isOurs: true, mayRelease: true, mayClaim: false } as const

describe('with claims', () => {
  it.each<[what: string, facts: Partial<SubscriptionFacts>, whenDesired: SubscriptionStep, whenNot: SubscriptionStep]>([
    ['nothing is held', {}, 'claim', 'wait'],
    ['a claim was denied a moment ago', { mayClaim: false }, 'wait', 'wait'],
    ['a claim is under way', { isBusy: true }, 'wait', 'wait'],
    ['a claim is held', HELD, 'start', 'release'],
    ['a claim is held, in the pause after a failure', { ...HELD, mayStart: false }, 'wait', 'release'],
    ['a release is under way', { ...HELD, isOurs: false, isBusy: true }, 'wait', 'wait'],
    ['a claim is no longer certain', { mayRelease: true }, 'claim', 'release'],
    ['it runs', { ...HELD, run: 'running' }, 'wait', 'stop'],
    ['it runs without a claim (S1)', { run: 'running' }, 'lose', 'lose'],
    ['it runs, and its claim is no longer certain (S1)', { run: 'running', mayRelease: true }, 'lose', 'lose'],
    ['it is ending', { ...HELD, run: 'stopping' }, 'wait', 'wait'],
    ['it is ending, and its claim is gone (S1)', { run: 'stopping' }, 'lose', 'lose'],
    ['it is ending, and was told that its claim is gone', { run: 'lost' }, 'wait', 'wait'],
    ['it did not end in time', { ...HELD, run: 'stopping', isOverdue: true }, 'abandon', 'abandon'],
    ['it did not end in time after its claim was lost', { run: 'lost', isOverdue: true }, 'abandon', 'abandon'],
    ['an abandoned run may go on, and the claim is held (S2, S3)', { ...HELD, hasAbandonedRun: true }, 'release', 'release'],
    ['an abandoned run may go on (S3)', { hasAbandonedRun: true }, 'wait', 'wait'],
  ])('when %s', (_what, facts, whenDesired, whenNot) => {
    expect(nextSubscriptionStep({ ...IDLE, ...facts, isDesired: true })).toBe(whenDesired)
    expect(nextSubscriptionStep({ ...IDLE, ...facts, isDesired: false })).toBe(whenNot)
  })
})

describe('with the cooperative rule', () => {
  it.each<[what: string, facts: Partial<SubscriptionFacts>, whenDesired: SubscriptionStep, whenNot: SubscriptionStep]>([
    ['nobody runs it', { isOurs: true }, 'start', 'wait'],
    ['nobody runs it, in the pause after a failure', { isOurs: true, mayStart: false }, 'wait', 'wait'],
    ['somebody else runs it', {}, 'wait', 'wait'],
    ['it runs here', { isOurs: true, run: 'running' }, 'wait', 'stop'],
    ['it runs here, and this instance hears nobody any more (S1)', { run: 'running' }, 'lose', 'lose'],
    ['it is ending', { isOurs: true, run: 'stopping' }, 'wait', 'wait'],
    ['an abandoned run may go on (S3)', { isOurs: true, hasAbandonedRun: true }, 'wait', 'wait'],
  ])('when %s', (_what, facts, whenDesired, whenNot) => {
    const cooperative = { ...IDLE, mayClaim: false, ...facts }
    expect(nextSubscriptionStep({ ...cooperative, isDesired: true })).toBe(whenDesired)
    expect(nextSubscriptionStep({ ...cooperative, isDesired: false })).toBe(whenNot)
  })
})

it('keeps its rules for any facts (S1 to S4)', () => {
  const flag = fc.boolean()
  const anyFacts: fc.Arbitrary<SubscriptionFacts> = fc.record({
    ...{
      isDesired: flag,
      isOverdue: flag,
      hasAbandonedRun: flag,
      isOurs: flag,
      isBusy: flag,
      mayClaim: flag,
      mayRelease: flag,
      mayStart: flag,
    },
    run: fc.constantFrom('running' as const, 'stopping' as const, 'lost' as const, null),
  })
  const check = (facts: SubscriptionFacts): void => {
    const step = nextSubscriptionStep(facts)
    const { run, isOurs, isDesired, hasAbandonedRun, isBusy } = facts
    if (run === 'running' && !isOurs) expect(step).toBe('lose')
    if (run !== null) expect(['stop', 'lose', 'abandon', 'wait']).toContain(step)
    if (step === 'start')
      expect({ run, isOurs, isDesired, hasAbandonedRun, isBusy }).toEqual({
        run: null,
        isOurs: true,
        isDesired: true,
        hasAbandonedRun: false,
        isBusy: false,
      })
    if (step === 'claim')
      expect({ isOurs, isDesired, hasAbandonedRun, isBusy }).toEqual({
        isOurs: false,
        isDesired: true,
        hasAbandonedRun: false,
        isBusy: false,
      })
    if (step === 'release') expect(!isDesired || hasAbandonedRun).toBe(true)
  }
  fc.assert(fc.property(anyFacts, check), { seed: 20260101, numRuns: 5000 })
})
