import { WorkAssignment } from '@es/coordination-core'
import { ManualClock } from '@es/coordination-testing'
import { describe, expect, it } from 'vitest'
import { AssignmentBook } from './assignment-book.js'

type Told = readonly [target: string, subscriptions: readonly string[], revision?: number, epoch?: bigint]

function bookOf(...told: readonly Told[]): AssignmentBook {
  const book = new AssignmentBook(new ManualClock(), 60)
  for (const [targetInstanceId, subscriptions, revision, epoch = 1n] of told) {
    book.note(
      new WorkAssignment({
        targetInstanceId,
        subscriptions,
        sourceInstanceId: 'leader',
        assignedAt: new Date(0),
        revision,
        epoch: revision === undefined ? undefined : epoch,
      }),
    )
  }
  return book
}

describe('the owner', () => {
  it.each<[what: string, told: readonly Told[], owners: Record<string, string>]>([
    [
      'is who was told last',
      [
        ['a', ['s'], 1],
        ['b', ['s'], 2],
      ],
      { s: 'b' },
    ],
    [
      'is the newer one, though its assignment arrived first (B1)',
      [
        ['b', ['s'], 2],
        ['a', ['s'], 1],
      ],
      { s: 'b' },
    ],
    [
      'is the one of the higher epoch (B1)',
      [
        ['b', ['s'], 1, 2n],
        ['a', ['s'], 99, 1n],
      ],
      { s: 'b' },
    ],
    [
      'is nobody once it was told to let go (B2)',
      [
        ['a', ['s'], 1],
        ['a', [], 2],
      ],
      {},
    ],
    [
      'is not whoever had it before the one that was told to let go (B2)',
      [
        ['a', ['s'], 1],
        ['b', ['s'], 2],
        ['b', [], 3],
      ],
      {},
    ],
    [
      'is not changed by an older assignment of the same target',
      [
        ['a', ['s'], 2],
        ['a', [], 1],
      ],
      { s: 'a' },
    ],
    [
      'is who was told last, where the leader has no epochs',
      [
        ['a', ['s']],
        ['b', ['s']],
      ],
      { s: 'b' },
    ],
    [
      'is not changed by a leader without epochs where there are some',
      [
        ['a', ['s'], 1],
        ['b', ['s']],
      ],
      { s: 'a' },
    ],
    [
      'loses what an assignment of it leaves out, and nothing that somebody else has got meanwhile (B2)',
      [
        ['a', ['s', 't', 'u'], 1],
        ['b', ['t'], 2],
        ['a', ['u', 'v'], 3],
        ['b', ['t', 's'], 4],
        ['a', ['v'], 5],
      ],
      { s: 'b', t: 'b', v: 'a' },
    ],
    ['is known by strange names too', [['__proto__', ['constructor'], 1]], { constructor: '__proto__' }],
  ])('%s', (_what, told, owners) => {
    expect(Object.fromEntries(bookOf(...told).ownerOf)).toEqual(owners)
  })
})

describe('the home', () => {
  it.each<[what: string, told: readonly Told[], homes: Record<string, string>]>([
    ['is nowhere else for what never moved', [['a', ['s'], 1]], {}],
    [
      'is the owner that left',
      [
        ['a', ['s'], 1],
        ['b', ['s'], 2],
      ],
      { s: 'a' },
    ],
    [
      'is the first owner that left, not the next one',
      [
        ['a', ['s'], 1],
        ['b', ['s'], 2],
        ['c', ['s'], 3],
      ],
      { s: 'a' },
    ],
    [
      'is reached when it comes back',
      [
        ['a', ['s'], 1],
        ['b', ['s'], 2],
        ['b', [], 3],
        ['a', ['s'], 4],
      ],
      {},
    ],
    [
      'is the new owner after a move for balance',
      [
        ['a', ['s'], 1],
        ['a', [], 2],
        ['b', ['s'], 3],
      ],
      {},
    ],
    [
      'is the one that took the place of the one that left',
      [
        ['a', ['s'], 1],
        ['b', ['s'], 2],
        ['b', [], 3],
        ['c', ['s'], 4],
      ],
      {},
    ],
  ])('%s', (_what, told, homes) => {
    expect(Object.fromEntries(bookOf(...told).homeOf)).toEqual(homes)
  })
})

it('forgets instances that are gone, with what they owned and were home to', () => {
  const book = bookOf(['a', ['s'], 1], ['b', ['s', 't'], 2], ['c', ['u'], 2])
  book.keepOnly((instanceId) => instanceId === 'b')
  expect(Object.fromEntries(book.ownerOf)).toEqual({ s: 'b', t: 'b' })
  expect(book.homeOf.size).toBe(0)
})
