import { describe, expect, it } from 'vitest'
import type { InstanceView } from './cluster-view.js'
import { PendingWork } from './pending-work.js'
import { instance } from './views.test.harness.js'

/** `b`, which was told to run `s` at second 10, as it was heard at second `heardAt`. */
const b = (heardAt: number, facts: Partial<InstanceView> = {}): InstanceView => instance('b', { heardAt, usesClaims: false, ...facts })

/** Owners after `b` was told to run `s` at second 10 and, if asked for, something else at second 20. */
function ownersWith(view: InstanceView | null, { isWithdrawn = false } = {}): Record<string, string> {
  const work = new PendingWork()
  work.told('b', ['s'], 10)
  if (isWithdrawn) work.told('b', [], 20)
  work.heard(view === null ? [] : [view])
  return Object.fromEntries(work.owners)
}

describe('what was told and not answered', () => {
  it.each<[what: string, view: InstanceView | null, owners: Record<string, string>, withdrawn?: boolean]>([
    ['may begin at any moment', b(9), { s: 'b' }],
    ['may begin also where a later heartbeat does not list it', b(60), { s: 'b' }],
    ['is told of by heartbeats from the first that lists it (E1)', b(11, { subscriptions: ['s'] }), {}],
    ['is not told of by a heartbeat from before', b(10, { subscriptions: ['s'] }), { s: 'b' }],
    ['may begin after it was withdrawn', b(19), { s: 'b' }, true],
    ['may begin while the withdrawal is under way', b(21), { s: 'b' }, true],
    ['is free when it is not listed long after the withdrawal (E2)', b(21.1), {}, true],
    ['begins nowhere on an instance that leaves (E3)', b(9, { status: 'draining' }), {}],
    ['begins nowhere on an instance that is silent (E3)', b(9, { status: 'stale' }), {}],
    ['begins nowhere on an instance that is forgotten (E3)', null, {}],
    ['is decided by the claims where there are any', b(9, { usesClaims: true }), {}],
  ])('%s', (_, view, owners, isWithdrawn = false) => {
    expect(ownersWith(view, { isWithdrawn })).toEqual(owners)
  })

  it('stays answered, whatever is heard later', () => {
    const work = new PendingWork()
    work.told('b', ['s'], 10)
    work.heard([b(11, { subscriptions: ['s'] })])
    work.heard([b(12)])
    expect(work.owners.size).toBe(0)
    work.told('b', ['s', 't'], 13)
    work.heard([b(12)])
    expect([...work.owners]).toEqual([
      ['s', 'b'],
      ['t', 'b'],
    ])
  })
})
