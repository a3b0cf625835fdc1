import type { Clock, Logger } from '@es/coordination-core'
import {
  InMemoryLeaderElector,
  InMemoryOwnership,
  InMemoryTransport,
  SharedBus,
  SharedClaims,
  SharedLeaderState,
} from '@es/coordination-memory'
import { ManualClock } from '@es/coordination-testing'
import { describe, expect, it } from 'vitest'
import { names, told } from './cluster.test.harness.js'
import { WorkSet } from './work-set.js'
import { type CoordinatedWorkerOptions, parseWorkerOptions } from './worker-options.js'

const silent: Logger = { debug() {}, info() {}, warn() {}, error() {} }
const COUNT = 300

/** A work set of many subscriptions, and how often it has looked at all of them. */
function setUp(options: Partial<CoordinatedWorkerOptions> = {}) {
  const manual = new ManualClock()
  const counts = { passes: 0, looks: 0, changes: 0, events: 0 }
  // A pass ends with a look at the wall clock, for the phases that `status()` tells.
  const clock: Clock = {
    now: () => {
      counts.passes++
      return manual.now()
    },
    monotonicSeconds: () => manual.monotonicSeconds(),
    setTimer: (seconds, callback) => manual.setTimer(seconds, callback),
  }
  const ownership = new InMemoryOwnership('a', { claims: new SharedClaims() })
  const subscriptions = names(COUNT)
  const parsed = parseWorkerOptions({
    ...{ instanceId: 'a', subscriptions, clock, ownership, logger: silent },
    elector: new InMemoryLeaderElector('a', { sharedState: new SharedLeaderState() }),
    transport: new InMemoryTransport({ bus: new SharedBus() }),
    run: (_subscription, { signal }) => told(signal),
    ...options,
  })
  const work = new WorkSet({
    options: parsed,
    lookElsewhere: () => {
      counts.looks++
      return () => false
    },
    isCutOff: () => false,
    isHeard: () => true,
    emit: () => void counts.events++,
    changed: () => void counts.changes++,
  })
  const reset = (): void => void Object.assign(counts, { passes: 0, looks: 0, changes: 0 })
  return { clock: manual, ownership, work, subscriptions, counts, reset }
}

/** What a few passes may be, whatever the number of subscriptions. */
const A_FEW = 8

describe('looks at all subscriptions a few times, not once for each', () => {
  it('while they start', async () => {
    const { clock, work, subscriptions, counts, reset } = setUp()
    reset()
    work.assign(subscriptions, 1n)
    await clock.advance(0)
    expect(work.holding()).toHaveLength(COUNT)
    expect(counts.passes).toBeLessThan(A_FEW)
    expect(counts.looks).toBeLessThan(A_FEW)
  })

  it('when their runs end together, and each is released', async () => {
    const { clock, work, subscriptions, ownership, counts, reset } = setUp()
    work.assign(subscriptions, 1n)
    await clock.advance(0)
    reset()
    const drained = work.drain(clock.monotonicSeconds() + 30)
    await clock.advance(0)
    expect(await drained).toEqual([])
    expect(ownership.held.size).toBe(0)
    expect(counts.passes).toBeLessThan(A_FEW)
  })

  it('when all claims are lost together', async () => {
    const { clock, work, subscriptions, ownership, counts, reset } = setUp()
    work.assign(subscriptions, 1n)
    await clock.advance(0)
    reset()
    ownership.forceLose()
    await clock.advance(0)
    expect(work.holding()).toHaveLength(COUNT)
    expect(ownership.held.size).toBe(COUNT)
    expect(counts.passes).toBeLessThan(2 * A_FEW)
  })
})

describe('tells that something has changed', () => {
  it('when it holds or declines something else than before, and not otherwise', async () => {
    let fail = (): void => {}
    const { clock, work, counts, reset } = setUp({
      maxRunFailures: 1,
      declineSeconds: 60,
      run: (_subscription, { signal }) =>
        Promise.race([told(signal), new Promise<void>((_, reject) => (fail = () => reject(new Error('no'))))]),
    })
    const changesAfter = async (step: () => void): Promise<boolean> => {
      reset()
      step()
      await clock.advance(0)
      expect(counts.passes).toBeGreaterThan(0)
      return counts.changes > 0
    }
    const declined = (): readonly string[] => work.declined()
    expect(await changesAfter(() => work.assign(['s00'], 1n))).toBe(true)
    expect(await changesAfter(() => work.hurry())).toBe(false)
    expect(await changesAfter(() => work.assign([], 1n)), 'holds less').toBe(true)
    expect(await changesAfter(() => work.assign(['unheard of'], 1n)), 'cannot run it').toBe(true)
    expect(declined()).toEqual(['unheard of'])
    expect(await changesAfter(() => work.assign(['s00'], 1n)), 'holds more').toBe(true)
    expect(await changesAfter(() => fail()), 'declines it').toBe(true)
    expect([work.holding(), declined()]).toEqual([[], ['s00', 'unheard of']])
    expect(await changesAfter(() => work.assign([], 1n))).toBe(false)
    reset()
    await clock.advance(60)
    expect(declined()).toEqual(['unheard of'])
    expect(counts.changes, 'declines it no more').toBe(1)
  })
})
