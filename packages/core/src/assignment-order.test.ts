import { describe, expect, it } from 'vitest'
import { AssignmentOrder, isOlderAssignment } from './assignment-order.js'

const FORGET_AFTER = 45

/** An assignment, to this instance unless it says `others`, and whether it is accepted. Seconds are 1, 2, 3, ... unless `at` says otherwise. */
interface Arrival {
  readonly epoch?: bigint
  readonly revision?: number
  readonly others?: true
  readonly at?: number
  readonly accepted: boolean
}

describe('an assignment is accepted or refused by its epoch and revision', () => {
  it.each<[rule: string, arrivals: readonly Arrival[], highest: bigint | null]>([
    [
      'A1: a lower epoch is refused, the same and a higher one are not',
      [
        { epoch: 5n, accepted: true },
        { epoch: 4n, accepted: false },
        { epoch: 5n, accepted: true },
        { epoch: 6n, accepted: true },
        { epoch: 5n, accepted: false },
      ],
      6n,
    ],
    [
      'A1: an epoch counts also when it was seen on an assignment to somebody else',
      [
        { epoch: 5n, revision: 1, accepted: true },
        { epoch: 6n, revision: 1, others: true, accepted: true },
        { epoch: 5n, revision: 2, accepted: false },
      ],
      6n,
    ],
    [
      'A2: a lower revision is refused, a repeat and a higher one are not',
      [
        { epoch: 5n, revision: 3, accepted: true },
        { epoch: 5n, revision: 2, accepted: false },
        { epoch: 5n, revision: 3, accepted: true },
        { epoch: 5n, revision: 4, accepted: true },
      ],
      5n,
    ],
    [
      'A2: revisions of others do not count',
      [
        { epoch: 5n, revision: 9, others: true, accepted: true },
        { epoch: 5n, revision: 3, accepted: true },
        { epoch: 5n, revision: 8, others: true, accepted: true },
      ],
      5n,
    ],
    [
      'A2: revisions start over with each epoch',
      [
        { epoch: 5n, revision: 9, accepted: true },
        { epoch: 6n, revision: 0, accepted: true },
      ],
      6n,
    ],
    [
      'A2: one without revision is as good as its epoch, and forgets none',
      [
        { epoch: 5n, revision: 9, accepted: true },
        { epoch: 5n, accepted: true },
        { epoch: 5n, revision: 8, accepted: false },
      ],
      5n,
    ],
    ['A3: one without epoch is accepted always, and changes nothing', [{ accepted: true }], null],
    [
      'A3: also after one with an epoch',
      [
        { epoch: 5n, accepted: true },
        { revision: 1, accepted: true },
        { epoch: 4n, accepted: false },
      ],
      5n,
    ],
    [
      'A4: an epoch counts until nothing was heard of it for the limit',
      [
        { epoch: 5n, at: 0, accepted: true },
        { epoch: 4n, at: FORGET_AFTER - 0.1, accepted: false },
        { epoch: 4n, at: FORGET_AFTER, accepted: true },
      ],
      4n,
    ],
    [
      'A4: what is heard again counts from then on; what is refused is not heard',
      [
        { epoch: 5n, at: 0, accepted: true },
        { epoch: 5n, at: 30, others: true, accepted: true },
        { epoch: 4n, at: 60, accepted: false },
        { epoch: 4n, at: 30 + FORGET_AFTER, accepted: true },
      ],
      4n,
    ],
    [
      'A4: a forged revision locks the leader out for the limit only',
      [
        { epoch: 5n, revision: 1_000_000, at: 0, accepted: true },
        { epoch: 5n, revision: 1, at: FORGET_AFTER - 0.1, accepted: false },
        { epoch: 5n, revision: 1, at: FORGET_AFTER, accepted: true },
        { epoch: 5n, revision: 0, at: FORGET_AFTER + 1, accepted: false },
      ],
      5n,
    ],
  ])('%s', (_rule, arrivals, highest) => {
    const order = new AssignmentOrder(FORGET_AFTER)
    const accepted = arrivals.map(({ epoch, revision, others, at }, index) => order.accept({ epoch, revision }, !others, at ?? index + 1))
    expect(accepted).toEqual(arrivals.map((arrival) => arrival.accepted))
    expect(order.highestEpoch).toBe(highest)
  })
})

it('nothing is older than nothing', () => {
  expect(isOlderAssignment({ epoch: -1n, revision: -1, at: 0 }, null, FORGET_AFTER)).toBe(false)
  expect(isOlderAssignment({ epoch: -1n, revision: -1, at: 0 }, undefined, FORGET_AFTER)).toBe(false)
})
