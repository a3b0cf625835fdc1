import { describe, expect, it } from 'vitest'
import { findHoldings, mayHoldAnything } from './cluster-view.js'
import { instance, view } from './views.test.harness.js'

const holdings = (...parameters: Parameters<typeof view>): { holderOf: Record<string, string>; silent: string[] } => {
  const { holderOf, silentHolders } = findHoldings(view(...parameters))
  return { holderOf: Object.fromEntries(holderOf), silent: [...silentHolders] }
}

const LONG = 'a-deployment-with-a-name-so-long-that-a-backend-has-to-cut-it'

describe('who holds what', () => {
  it.each<[what: string, Parameters<typeof view>, holderOf: Record<string, string>, silent: string[]]>([
    ['nobody', [[instance('a')], { holders: {} }], {}, []],
    [
      'what a heartbeat says that is newer than the look',
      [[instance('b', { heardAt: 99.6, subscriptions: ['s'] })], { holders: {} }],
      { s: 'b' },
      [],
    ],
    [
      'what the look says when it is newer',
      [[instance('b', { heardAt: 99.4, subscriptions: ['s'] })], { holders: { t: 'b' } }],
      { t: 'b' },
      [],
    ],
    ['a release that is told before the next look', [[instance('b', { heardAt: 99.6 })], { holders: { s: 'b' } }], {}, []],
    [
      'what this instance knows of itself, whatever the look says',
      [[instance('a', { heardAt: 0, subscriptions: ['s'] })], { holders: { t: 'a' } }],
      { s: 'a' },
      [],
    ],
    ['what a heartbeat says when nobody has looked', [[instance('b', { heardAt: 1, subscriptions: ['s'] })]], { s: 'b' }, []],
    ['nothing of a silent one without a look', [[instance('b', { status: 'stale', subscriptions: ['s'] })]], {}, []],
    [
      'what a silent one claims',
      [[instance('b', { status: 'stale', heardAt: 80, subscriptions: ['s'] })], { holders: { t: 'b' } }],
      { t: 'b' },
      ['b'],
    ],
    [
      'what a terminated one still claims',
      [[instance('b', { status: 'terminated', heardAt: 80 })], { holders: { t: 'b' } }],
      { t: 'b' },
      ['b'],
    ],
    [
      'what a terminated one has let go since the look',
      [[instance('b', { status: 'terminated', heardAt: 99.7 })], { holders: { t: 'b' } }],
      {},
      [],
    ],
    ['what a draining one says', [[instance('b', { status: 'draining', subscriptions: ['s'] })], { holders: {} }], { s: 'b' }, []],
    ['what nobody that is known claims (A7)', [[instance('a')], { holders: { s: 'psql' } }], { s: 'psql' }, ['psql']],
    [
      'what an instance of the reference library says: it never claims',
      [[instance('r', { heardAt: 90, usesClaims: false, subscriptions: ['s'] })], { holders: {} }],
      { s: 'r' },
      [],
    ],
    [
      'the claim, where two list the same',
      [[instance('b', { subscriptions: ['s'] }), instance('c', { subscriptions: ['s'] })], { holders: { s: 'c' } }],
      { s: 'c' },
      [],
    ],
    [
      'the first, where two list the same and no claim tells',
      [[instance('b', { subscriptions: ['s'] }), instance('c', { subscriptions: ['s'] })]],
      { s: 'b' },
      [],
    ],
    ['a short id that begins like another one for what it is: unknown', [[instance('w10')], { holders: { s: 'w1' } }], { s: 'w1' }, ['w1']],
    [
      'a cut id for the only one that begins like it',
      [[instance(`${LONG}-1`, { heardAt: 1 })], { holders: { s: LONG } }],
      { s: `${LONG}-1` },
      [],
    ],
    [
      'a cut id for the one that lists the subscription, where several begin like it',
      [[instance(`${LONG}-1`, { heardAt: 1 }), instance(`${LONG}-2`, { heardAt: 1, subscriptions: ['s'] })], { holders: { s: LONG } }],
      { s: `${LONG}-2` },
      [],
    ],
    [
      'a cut id for the one present that was told to run it, when only one that is gone lists it',
      [
        [instance(`${LONG}-1`, { heardAt: 1, status: 'stale', subscriptions: ['s'] }), instance(`${LONG}-2`, { heardAt: 1 })],
        { holders: { s: LONG }, assigned: new Map([['s', `${LONG}-2`]]) },
      ],
      { s: `${LONG}-2` },
      [],
    ],
    [
      'a cut id for nobody, where several begin like it and none lists it',
      [[instance(`${LONG}-1`), instance(`${LONG}-2`)], { holders: { s: LONG } }],
      { s: LONG },
      [LONG],
    ],
    ['__proto__ like any other name', [[instance('__proto__', { subscriptions: ['constructor'] })]], { constructor: '__proto__' }, []],
  ])('is %s', (_what, parameters, holderOf, silent) => {
    expect(holdings(...parameters)).toEqual({ holderOf, silent })
  })

  it('lets every instance whose id may have been cut pass for a holder', () => {
    const mayHold = mayHoldAnything(view([instance('b'), instance(`${LONG}-1`), instance(`${LONG}-2`)], { holders: { s: LONG, t: 'b' } }))
    expect(['b', 'c', `${LONG}-1`, `${LONG}-2`].map(mayHold)).toEqual([true, false, true, true])
  })
})
