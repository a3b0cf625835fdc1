import type { BrokenHistory } from './broken-history.fixture.js'
import { chronicle, end, lastingFault } from './chronicle.fixture.js'

const a = chronicle('a')
const b = chronicle('b')

/** Gaps, lost and repeated events, moves: H8 to H13. */
export const BROKEN_PROGRESS: readonly BrokenHistory[] = [
  {
    name: 'a subscription that nobody takes over from the dead',
    rule: 'without_owner',
    history: [a.started(0), b.started(0), a.claimed(1, 'orders', 1), a.crashed(3), b.claimed(9, 'orders', 2), end(12)],
    options: { maxSecondsWithoutOwner: 5 },
    says: 'orders was without owner from 3.000 s, after a, until b took it at 9.000 s: 6.000 s of it after the last change or fault, and 5 s are allowed',
  },
  {
    name: 'a subscription that nobody ever takes',
    rule: 'without_owner',
    history: [a.started(0), end(12)],
    options: { maxSecondsWithoutOwner: 5, subscriptions: ['orders'] },
    says: 'orders was without owner from 0.000 s, until the end of the history',
  },
  {
    name: 'a subscription of an instance that stands still',
    rule: 'without_owner',
    history: [a.started(0), b.started(0), a.claimed(1, 'orders', 1, 3), a.paused(2), b.holds(9, 12), end(12)],
    options: { maxSecondsWithoutOwner: 5 },
    says: 'from 3.000 s, after a, until the end of the history',
  },
  {
    name: 'a subscription that nobody takes over while the network of its owner alone is cut',
    rule: 'without_owner',
    history: [
      a.started(0),
      b.started(0),
      a.claimed(1, 'orders', 1),
      ...lastingFault('network cut', 2, 20, 'a'),
      a.lost(4, 'orders'),
      end(20),
    ],
    options: { maxSecondsWithoutOwner: 5 },
    says: '16.000 s of it',
  },
  {
    name: 'a subscription that nobody takes after the database is back',
    rule: 'without_owner',
    history: [
      a.started(0),
      a.claimed(1, 'orders', 1),
      ...lastingFault('database down', 2, 20),
      a.lost(4, 'orders'),
      a.claimed(27, 'orders', 2),
      end(30),
    ],
    options: { maxSecondsWithoutOwner: 5 },
    says: '7.000 s of it',
  },
  {
    name: 'a cluster that elects nobody',
    rule: 'without_leader',
    history: [a.started(0), b.started(0), a.elected(1, 1), a.crashed(3), b.elected(9, 2), end(12)],
    options: { maxSecondsWithoutLeader: 5 },
    says: 'The cluster was without leader from 3.000 s, after a',
  },
  {
    name: 'a position that is passed over',
    rule: 'event_lost',
    history: [a.claimed(0, 'orders', 1), a.wrote(1, 'orders', 1, 1), a.wrote(2, 'orders', 3, 1)],
    says: 'orders has lost position 2',
  },
  {
    name: 'a batch that is passed over',
    rule: 'event_lost',
    history: [a.claimed(0, 'orders', 1), a.wrote(1, 'orders', 10, 1, { from: 1 }), a.wrote(2, 'orders', 30, 1, { from: 21 })],
    says: 'orders has lost positions 11 to 20',
  },
  {
    name: 'events that are missing at the end',
    rule: 'event_lost',
    history: [a.claimed(0, 'orders', 1), a.wrote(1, 'orders', 1, 1)],
    options: { lastPositions: new Map([['orders', 3]]) },
    says: 'orders has lost positions 2 to 3',
  },
  {
    name: 'a subscription that is never heard of',
    rule: 'event_lost',
    history: [a.started(0)],
    options: { lastPositions: new Map([['orders', 3]]) },
    says: 'orders has lost positions 1 to 3',
  },
  {
    name: 'an event that was not applied, under a checkpoint that says so',
    rule: 'event_lost',
    history: [a.claimed(0, 'orders', 1), a.applied(1, 'orders', 1, 1), a.applied(1, 'orders', 3, 1), a.wrote(1, 'orders', 3, 1)],
    says: 'orders has lost position 2',
  },
  {
    name: 'events that were not applied in the end, under a checkpoint that says so',
    rule: 'event_lost',
    history: [a.claimed(0, 'orders', 1), a.applied(1, 'orders', 1, 1), a.wrote(2, 'orders', 10, 1)],
    says: 'orders has lost positions 2 to 10',
  },
  {
    name: 'a checkpoint that covers nothing, and is set forward',
    rule: 'event_lost',
    history: [a.claimed(0, 'orders', 1), a.wrote(1, 'orders', 1, 1), a.wrote(2, 'orders', 9, 1, { from: 10 })],
    says: 'orders has lost positions 2 to 9',
  },
  {
    name: 'more positions missing after a crash than can have gone unrecorded',
    rule: 'event_lost',
    history: [
      a.started(0),
      b.started(0),
      a.claimed(0, 'orders', 1),
      a.wrote(1, 'orders', 1, 1),
      a.crashed(2),
      b.claimed(3, 'orders', 2),
      b.wrote(4, 'orders', 4, 2),
    ],
    options: { maxUnrecordedAtCrash: 1 },
    says: 'positions 2 to 3',
  },
  {
    name: 'a position that is written twice',
    rule: 'event_repeated',
    history: [
      ...[a.claimed(0, 'orders', 1), a.wrote(1, 'orders', 1, 1), a.wrote(2, 'orders', 2, 1), a.lost(3, 'orders')],
      ...[b.claimed(4, 'orders', 2), b.wrote(5, 'orders', 2, 2), b.wrote(6, 'orders', 3, 2)],
    ],
    says: 'b wrote position 2 of orders again at 5.000 s',
  },
  {
    name: 'a batch that overlaps the one before',
    rule: 'event_repeated',
    history: [a.claimed(0, 'orders', 1), a.wrote(1, 'orders', 10, 1, { from: 1 }), a.wrote(2, 'orders', 20, 1, { from: 8 })],
    says: 'positions 8 to 10',
  },
  {
    name: 'an event that is applied twice',
    rule: 'event_repeated',
    history: [a.claimed(0, 'orders', 1), a.applied(1, 'orders', 1, 1), a.applied(2, 'orders', 1, 1), a.wrote(2, 'orders', 1, 1)],
    says: 'position 1 of orders again',
  },
  {
    name: 'two events that change places',
    rule: 'event_out_of_order',
    history: [
      a.claimed(0, 'orders', 1),
      a.wrote(1, 'orders', 1, 1),
      a.wrote(2, 'orders', 3, 1),
      a.wrote(3, 'orders', 2, 1),
      a.wrote(4, 'orders', 4, 1),
    ],
    says: 'a wrote position 2 of orders after later ones at 3.000 s',
  },
  {
    name: 'a checkpoint that goes back',
    rule: 'event_out_of_order',
    history: [
      ...[a.claimed(0, 'orders', 1), a.applied(1, 'orders', 1, 1), a.applied(1, 'orders', 2, 1)],
      ...[a.wrote(2, 'orders', 2, 1), a.wrote(3, 'orders', 1, 1)],
    ],
    says: 'a put the checkpoint of orders back from 2 to 1 at 3.000 s',
  },
  {
    name: 'a subscription that goes back and forth between instances that stay',
    rule: 'needless_move',
    history: [
      ...[a.started(0), a.claimed(1, 'orders', 1), b.started(2), a.released(3, 'orders'), b.claimed(3, 'orders', 2)],
      ...[b.released(5, 'orders'), a.claimed(5, 'orders', 3), a.released(7, 'orders'), b.claimed(7, 'orders', 4), end(9)],
    ],
    says: 'a gave orders away at 7.000 s and stayed, b took it at 7.000 s',
  },
  {
    name: 'a move long after anything happened',
    rule: 'needless_move',
    history: [a.started(0), b.started(0), a.claimed(1, 'orders', 1), a.released(60, 'orders'), b.claimed(60, 'orders', 2), end(90)],
    options: { changeLastsSeconds: 30 },
    says: 'a gave orders away at 60.000 s',
  },
  {
    name: 'a move of runs in a cluster without claims',
    rule: 'needless_move',
    history: [
      ...[a.started(0), b.started(0), a.runs(1, 'orders', null), a.ends(60, 'orders', 'revoked'), b.runs(60, 'orders', null), end(90)],
    ],
    options: { changeLastsSeconds: 30, ownedBy: 'run' },
    says: 'a gave orders away at 60.000 s',
  },
]
