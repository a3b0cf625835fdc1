import { describe, expect, it } from 'vitest'
import { BROKEN_EXCLUSION } from './broken-exclusion.fixture.js'
import { BROKEN_PROGRESS } from './broken-progress.fixture.js'
import { checkHistory, type HistoryReport } from './check-history.js'
import { chronicle } from './chronicle.fixture.js'
import type { HistoryEvent } from './history-event.js'
import { HISTORY_RULES, type HistoryRule } from './history-rules.js'
import { IMPOSSIBLE } from './impossible-history.fixture.js'

const a = chronicle('a')
const b = chronicle('b')
const c = chronicle('c')

const BROKEN = [...BROKEN_EXCLUSION, ...BROKEN_PROGRESS, ...IMPOSSIBLE]

const rulesOf = ({ breaches }: HistoryReport) => [...new Set(breaches.map(({ rule }) => rule))]

describe('checkHistory', () => {
  describe.each(Object.entries(HISTORY_RULES))('%s', (rule, { number }) => {
    it.each(BROKEN.filter((broken) => broken.rule === rule))(`${number} finds $name, and nothing else`, ({ history, options, says }) => {
      const report = checkHistory(history, options)
      expect(report.breaches.map(({ message }) => message).join('\n')).toContain(says)
      expect(rulesOf(report)).toEqual([rule])
      expect(report.holds).toBe(false)
    })

    it('has a broken history of its own, and can be switched off', () => {
      const [broken] = BROKEN.filter((each) => each.rule === rule)
      expect(broken).toBeDefined()
      const { history, options } = broken!
      expect(checkHistory(history, { ...options, skip: [...(options?.skip ?? []), rule as HistoryRule] }).holds).toBe(true)
    })
  })

  it('reports each of several breaches, in the order of time', () => {
    const report = checkHistory([a.elected(0, 1), b.elected(5, 2), b.unseated(6), c.elected(7, 3), c.unseated(8), a.unseated(9)])
    expect(report.breaches.map(({ at }) => at)).toEqual([5, 7])
  })

  it('shows the events of a breach, and what happened around them in the same affair', () => {
    const noise = Array.from({ length: 50 }, (_, index) => c.claimed(4, `other-${index}`, 100 + index))
    const { breaches } = checkHistory(
      [a.started(0), a.claimed(1, 'orders', 1), ...noise, b.started(4), b.claimed(5, 'orders', 2), a.holds(5.5, 9), a.lost(6, 'orders')],
      { windowSize: 2 },
    )
    expect(breaches).toHaveLength(1)
    expect(breaches[0]?.events).toEqual([a.claimed(1, 'orders', 1), b.claimed(5, 'orders', 2), a.lost(6, 'orders')])
    expect(breaches[0]?.window).toEqual([
      a.started(0),
      a.claimed(1, 'orders', 1),
      b.started(4),
      b.claimed(5, 'orders', 2),
      a.lost(6, 'orders'),
    ])
  })

  it('misses nothing of a subscription that nobody has written to yet, whatever its first position', () => {
    const history = [a.started(0), a.claimed(1, 'orders', 1)]
    for (const firstPosition of [0, 1, 5]) expect(checkHistory(history, { firstPosition }).breaches).toEqual([])
  })

  it('describes as many breaches as it is told to, and counts all', () => {
    const history = Array.from({ length: 30 }, (_, index) => a.released(index, 'orders'))
    const report = checkHistory(history, { maxBreaches: 3 })
    expect([report.breaches.length, report.breachCount]).toEqual([3, 30])
  })

  it.each([
    ['no time', { at: undefined }, 'undefined as its at'],
    ['a time that is none', { at: Number.NaN }, 'NaN as its at'],
    ['a deadline that is none', { trustedUntil: Number.NaN }, 'NaN as its trustedUntil'],
    ['a type that nobody knows', { type: 'electd' }, '"electd" as its type'],
    ['the type of a built-in', { type: 'toString' }, '"toString" as its type'],
  ])('refuses an event with %s, which would hide what it is about', (_, off, what) => {
    const history = [a.started(0), { type: 'elected', at: 1, instanceId: 'a', token: 1n, ...off } as HistoryEvent]
    expect(() => checkHistory(history)).toThrow(
      expect.objectContaining({ code: 'invalid_history', message: `Event 1 of the history has ${what}` }),
    )
  })

  it('refuses options that are off', () => {
    expect(() => checkHistory([], { toleranceSeconds: -1 })).toThrow(
      'toleranceSeconds must be a finite number of seconds of at least 0, got -1',
    )
    expect(() => checkHistory([], { skip: ['nonsense' as HistoryRule] })).toThrow('skip must be a list of two_leaders')
    expect(() => checkHistory([], { lastPositions: new Map([['s', 1n]]) as never })).toThrow('every last position must be a whole number')
    expect(() => checkHistory([], { ownedBy: 'luck' as 'run' })).toThrow(`ownedBy must be 'claim' or 'run'`)
  })
})
