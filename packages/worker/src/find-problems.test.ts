import { describe, expect, it } from 'vitest'
import { findProblems, type ProblemFacts } from './find-problems.js'
import type { WorkStatus } from './worker-status.js'

const WELL: ProblemFacts = {
  lateBySeconds: null,
  publishOutage: null,
  whyDeaf: null,
  renewalFailedSince: null,
  leaderHeardAt: 100,
  lockHolder: null,
  claimsFailing: null,
  work: [],
  abandoned: [],
  lostTogether: [],
  workOverdueSeconds: 0,
  unowned: new Map(),
  unassigned: [],
}
const LIMITS = { heartbeatTimeoutSeconds: 15, noLeaderWarningSeconds: 30, drainTimeoutSeconds: 20 }
const NOW = { monotonic: 100, wall: new Date('2026-03-01T12:00:00Z') }

function work(facts: Partial<WorkStatus>): WorkStatus {
  return { subscription: 's', phase: 'running', since: NOW.wall, fencingToken: '1', holder: null, failures: 0, lastError: null, ...facts }
}

/** A subscription that has been denied for `seconds`. */
function denied(seconds: number, holder: string | null): WorkStatus {
  return work({ phase: 'denied', holder, since: new Date(NOW.wall.getTime() - seconds * 1000) })
}

const outage = { since: 88, error: 'no bus' }
const lastSentAt = new Date('2026-03-01T11:59:00Z')

describe('a problem', () => {
  it.each<[code: string, facts: Partial<ProblemFacts>, message: string]>([
    ['late', { lateBySeconds: 6 }, 'This process was 6.0 s late: its event loop is blocked, or it was stopped'],
    [
      'publish_failing',
      { publishOutage: { ...outage, lastSentAt } },
      'No heartbeat could be published for 12 s: no bus (the last one was sent at 2026-03-01T11:59:00.000Z)',
    ],
    [
      'publish_failing',
      { publishOutage: { ...outage, lastSentAt: null } },
      'No heartbeat could be published for 12 s: no bus (none was sent so far)',
    ],
    ['deaf', { whyDeaf: 'It is deaf' }, 'It is deaf'],
    ['renewal_failing', { renewalFailedSince: 93 }, 'This leader has been unable to renew for 7 s'],
    ['no_leader', { leaderHeardAt: 69.9 }, 'There has been no leader for 30 s'],
    ['leader_silent', { leaderHeardAt: 60, lockHolder: 'b' }, 'b holds the leadership, but has not been heard for 40 s'],
    ['claims_failing', { claimsFailing: 'refused' }, 'Claims cannot be made: refused'],
    ['run_failing', { work: [work({ failures: 1, lastError: 'no luck' })] }, 'Failing: s (no luck)'],
    ['run_failing', { work: [work({ failures: 1 })] }, 'Failing: s (ended by itself)'],
    ['claims_denied', { work: [denied(15.1, 'b'), denied(16, null)] }, 'Held by others: s (b), s (unknown)'],
    ['run_abandoned', { abandoned: ['s', 't'] }, 'Abandoned runs that may still be running: s, t'],
    ['mass_loss', { lostTogether: ['b', 'c'] }, 'Most instances fell silent at once: b, c'],
    [
      'leader_work_stuck',
      { workOverdueSeconds: 20.1 },
      "The leader's work was told to end 20 s ago and goes on; this instance does not lead meanwhile",
    ],
    [
      'unowned',
      {
        unowned: new Map([
          ['s', 94],
          ['t', 96],
        ]),
      },
      'Assigned, but running nowhere: s (for 6 s)',
    ],
    ['unassigned', { unassigned: [{ subscription: 's', reason: 'no_capacity' as never }] }, 'Nobody can run s (no_capacity)'],
  ])('%s', (code, facts, message) => {
    expect(findProblems({ ...WELL, ...facts }, LIMITS, NOW)).toEqual([{ code, message }])
  })

  it.each<[what: string, facts: Partial<ProblemFacts>]>([
    ['anything at all', {}],
    ['a leader that was heard exactly as long ago as the limit', { leaderHeardAt: 70 }],
    ['a claim that was denied for a heartbeat timeout', { work: [denied(15, 'b')] }],
    ["leader's work that took all the time it has", { workOverdueSeconds: 20 }],
    ['what has been unowned for a third of the timeout', { unowned: new Map([['s', 95]]) }],
    ['work that has gone on for long', { work: [{ ...denied(1000, 'b'), phase: 'running' }] }],
  ])('is not %s', (_what, facts) => {
    expect(findProblems({ ...WELL, ...facts }, LIMITS, NOW)).toEqual([])
  })

  it('names the first of many, and says how many more there are', () => {
    const abandoned = Array.from({ length: 12 }, (_, index) => `s${index}`)
    expect(findProblems({ ...WELL, abandoned }, LIMITS, NOW)[0]?.message).toMatch(/: s0, .*s9 and 2 more$/)
  })

  it('does not hide another', () => {
    expect(findProblems({ ...WELL, whyDeaf: 'It is deaf', lateBySeconds: 6 }, LIMITS, NOW).map(({ code }) => code)).toEqual([
      'late',
      'deaf',
    ])
  })
})
