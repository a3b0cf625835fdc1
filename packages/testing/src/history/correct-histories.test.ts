import { describe, expect, it } from 'vitest'
import { checkHistory } from './check-history.js'
import { chronicle, end } from './chronicle.fixture.js'
import { CORRECT_OWNERSHIP } from './correct-ownership.fixture.js'
import { CORRECT_PROGRESS } from './correct-progress.fixture.js'
import { formatBreaches } from './format-breaches.js'

const a = chronicle('a')
const b = chronicle('b')

describe('checkHistory finds no fault with', () => {
  it.each([...CORRECT_OWNERSHIP, ...CORRECT_PROGRESS])('$name', ({ history, options }) => {
    const report = checkHistory(history, options)
    expect(report.holds, formatBreaches(report)).toBe(true)
  })
})

describe('the figures of a history', () => {
  it('count what happened, and measure what was missing', () => {
    const { figures } = checkHistory([
      ...[
        a.started(10),
        b.started(10),
        a.elected(11, 1),
        a.claimed(12, 'orders', 1),
        a.runs(12, 'orders', 1),
        a.wrote(13, 'orders', 5, 1, { from: 1 }),
      ],
      ...[a.crashed(20), { type: 'fault', at: 22, kind: 'session ended' } as const, b.elected(21, 2), b.claimed(23.5, 'orders', 2)],
      ...[
        a.started(30),
        b.paused(31),
        b.resumed(32),
        b.released(33, 'orders'),
        a.claimed(33.25, 'orders', 3),
        a.refused(34, 'orders', 3),
        end(40),
      ],
    ])
    expect(figures).toEqual({
      ...{ events: 17, startedAt: 10, durationSeconds: 30, instances: 2, terms: 2 },
      faults: new Map([
        ['crashed', 1],
        ['session ended', 1],
        ['paused', 1],
      ]),
      leader: { longestGapSeconds: 1, longestGapAt: 10, longestRecoverySeconds: 1 },
      subscriptions: [
        {
          ...{ subscription: 'orders', claims: 3, runs: 1, moves: 2, voluntaryMoves: 1 },
          ...{ checkpoints: 1, applied: 0, refusals: 1, lastPosition: 5 },
          // It was without owner from 20 to 23.5, and something happened at 22. While b stood still nothing told how long it could be trusted.
          ...{ longestGapSeconds: 3.5, longestGapAt: 20, longestRecoverySeconds: 2 },
        },
      ],
    })
  })

  it('say null where nothing was missing, and where nobody was elected', () => {
    const { figures } = checkHistory([a.claimed(0, 'orders', 1), end(9)])
    expect(figures.leader).toBe(null)
    expect(figures.subscriptions[0]).toMatchObject({ longestGapSeconds: 0, longestGapAt: null, longestRecoverySeconds: 0 })
  })
})
