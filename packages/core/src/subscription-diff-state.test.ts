import { describe, expect, it } from 'vitest'
import { about, CLAIMS, NOW, RUNS, state, wanted } from './subscription-diff.test.harness.js'
import { afterSubscriptionEvent, IDLE_SUBSCRIPTION, type SubscriptionEvent, type SubscriptionState } from './subscription-diff-state.js'

describe('a life', () => {
  const live = (x: SubscriptionState, ...events: SubscriptionEvent[]): SubscriptionState => events.reduce(afterSubscriptionEvent, x)

  it('goes from wanted over claimed and running to released', () => {
    let x: SubscriptionState = IDLE_SUBSCRIPTION
    const minutes: string[] = []
    for (const [input, event] of [
      [wanted, { type: 'claim_requested' }],
      [wanted, { type: 'claim_granted' }],
      [wanted, { type: 'run_started' }],
      [{}, { type: 'revoked', stopBySeconds: NOW + 30 }],
      [{}, { type: 'run_settled', retryAtSeconds: null }],
      [{}, { type: 'release_requested' }],
      [{}, { type: 'released' }],
    ] as const) {
      minutes.push(about(x, input))
      x = afterSubscriptionEvent(x, event)
    }
    expect(minutes).toEqual([
      'claim',
      'waiting:claim_answer',
      'start',
      'stop:revoke',
      'waiting:run_to_settle',
      'release',
      'waiting:release_answer',
    ])
    expect(x).toEqual(IDLE_SUBSCRIPTION)
  })

  it('starts anew without letting go when it is wanted again before it has settled', () => {
    const revoked = live(state('held', 'running'), { type: 'revoked', stopBySeconds: NOW + 30 })
    expect(about(revoked, wanted)).toBe('waiting:run_to_settle')
    expect(about(live(revoked, { type: 'run_settled', retryAtSeconds: null }), wanted)).toBe('start')
  })

  it('aborts a run that loses its claim while it finishes, and keeps the earlier deadline', () => {
    const lost = live(state('held', 'running'), { type: 'revoked', stopBySeconds: NOW + 5 }, { type: 'claim_lost' })
    expect(about(lost, {})).toBe('stop:abort')
    expect(live(lost, { type: 'aborted', stopBySeconds: NOW + 30 })).toEqual(state('none', 'aborted', { stopBySeconds: NOW + 5 }))
    expect(live(state('none', 'running'), { type: 'aborted', stopBySeconds: null }).stopBySeconds).toBeNull()
  })

  it('shortens a deadline, and never extends one', () => {
    const revoked = state('held', 'revoked', { stopBySeconds: NOW + 30 })
    expect(live(revoked, { type: 'deadline_shortened', stopBySeconds: NOW + 5 }).stopBySeconds).toBe(NOW + 5)
    expect(live(revoked, { type: 'deadline_shortened', stopBySeconds: NOW + 30 })).toBe(revoked)
  })

  it('claims and starts again only after a lost run has settled', () => {
    const aborted = live(state('held', 'running'), { type: 'claim_lost' }, { type: 'aborted', stopBySeconds: NOW + 5 })
    expect(about(aborted, wanted)).toBe('waiting:run_to_settle')
    const settled = live(aborted, { type: 'run_settled', retryAtSeconds: null })
    expect(about(settled, wanted)).toBe('claim')
  })

  it('never claims what a run that was given up may still be doing', () => {
    const left = live(state('held', 'revoked'), { type: 'given_up' }, { type: 'release_requested' }, { type: 'released' })
    expect(about(left, wanted)).toBe('waiting:run_to_settle')
    expect(about(live(left, { type: 'run_settled', retryAtSeconds: null }), wanted)).toBe('claim')
  })

  it('backs off after a failure and forgets it at the next start', () => {
    const failed = live(state('held', 'running'), { type: 'run_settled', retryAtSeconds: NOW + 9 })
    expect(failed).toEqual(state('held', 'none', { retryAtSeconds: NOW + 9 }))
    expect(live(failed, { type: 'run_started' })).toEqual(state('held', 'running'))
    expect(live(state('requested', 'none'), { type: 'claim_denied', retryAtSeconds: NOW + 1 })).toEqual(
      state('none', 'none', { retryAtSeconds: NOW + 1 }),
    )
  })

  // From each state, the events that change it.
  it.each([
    ['claim_requested', (x: SubscriptionState) => x.claim === 'none'],
    ['claim_granted', (x: SubscriptionState) => x.claim === 'requested'],
    ['claim_denied', (x: SubscriptionState) => x.claim === 'requested'],
    ['claim_lost', (x: SubscriptionState) => x.claim !== 'none'],
    ['release_requested', (x: SubscriptionState) => x.claim === 'held'],
    ['released', (x: SubscriptionState) => x.claim === 'releasing'],
    ['run_started', (x: SubscriptionState) => x.run === 'none'],
    ['revoked', (x: SubscriptionState) => x.run === 'running'],
    ['aborted', (x: SubscriptionState) => x.run === 'running' || x.run === 'revoked'],
    ['deadline_shortened', (x: SubscriptionState) => x.run === 'revoked' || x.run === 'aborted'],
    ['given_up', (x: SubscriptionState) => x.run === 'revoked' || x.run === 'aborted'],
    ['run_settled', (x: SubscriptionState) => x.run !== 'none'],
  ] as const)('takes %s only where it fits, and ignores it as late or repeated elsewhere', (type, fits) => {
    for (const claim of CLAIMS) {
      for (const run of RUNS) {
        const x = state(claim, run)
        const after = afterSubscriptionEvent(x, { type, retryAtSeconds: NOW, stopBySeconds: NOW } as SubscriptionEvent)
        if (fits(x)) expect(after).not.toEqual(x)
        else expect(after).toBe(x)
      }
    }
  })
})
