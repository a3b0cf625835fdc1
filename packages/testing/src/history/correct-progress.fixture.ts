import { chronicle, end, lastingFault } from './chronicle.fixture.js'
import type { CorrectHistory } from './correct-history.fixture.js'

const a = chronicle('a')
const b = chronicle('b')
const c = chronicle('c')

/** What is written, how long it takes, and what moves. */
export const CORRECT_PROGRESS: readonly CorrectHistory[] = [
  {
    name: 'a write that was sent before a pause, and answered when another owner was there',
    history: [
      ...[a.claimed(0, 'orders', 1, 2), a.wrote(1, 'orders', 1, 1), a.paused(1.5), b.claimed(3, 'orders', 2), b.wrote(4, 'orders', 3, 2)],
      ...[a.resumed(9), a.wrote(9, 'orders', 2, 1, { sentAt: 1.4 }), a.lost(9, 'orders')],
    ],
  },
  {
    name: 'a write that was under way when its process was killed',
    history: [
      a.claimed(0, 'orders', 1),
      a.crashed(2),
      a.wrote(2.2, 'orders', 1, 1, { sentAt: 1.9 }),
      b.claimed(3, 'orders', 2),
      b.wrote(4, 'orders', 2, 2),
    ],
  },
  {
    name: 'a write past the end of a claim that nobody else has taken',
    history: [
      a.claimed(0, 'orders', 1, 2),
      a.wrote(3, 'orders', 1, 1),
      a.lost(4, 'orders'),
      a.claimed(5, 'orders', 2),
      a.wrote(6, 'orders', 2, 2),
    ],
  },
  {
    name: 'batches, and a new owner that puts its token down first',
    history: [
      ...[a.claimed(0, 'orders', 1), a.wrote(1, 'orders', 10, 1, { from: 1 }), a.crashed(2)],
      ...[b.claimed(3, 'orders', 2), b.wrote(3, 'orders', 10, 2, { from: 11 }), b.wrote(4, 'orders', 15, 2, { from: 11 })],
    ],
    options: { lastPositions: new Map([['orders', 15]]) },
  },
  {
    name: 'events applied one by one under checkpoints for many, one of them written again',
    history: [
      ...[a.claimed(0, 'orders', 1), a.applied(1, 'orders', 1, 1), a.applied(1, 'orders', 2, 1), a.applied(1, 'orders', 3, 1)],
      ...[a.wrote(2, 'orders', 3, 1), a.wrote(3, 'orders', 3, 1)],
    ],
  },
  {
    name: 'a write that a kill kept from being recorded',
    history: [a.claimed(0, 'orders', 1), a.wrote(1, 'orders', 1, 1), a.crashed(2), b.claimed(3, 'orders', 2), b.wrote(4, 'orders', 3, 2)],
    options: { maxUnrecordedAtCrash: 1 },
  },
  {
    name: 'a takeover within the bound',
    history: [
      a.started(0),
      b.started(0),
      a.elected(1, 1),
      a.claimed(1, 'orders', 1),
      a.crashed(3),
      b.elected(4, 2),
      b.claimed(7, 'orders', 2),
      end(9),
    ],
    options: { maxSecondsWithoutOwner: 5, maxSecondsWithoutLeader: 2 },
  },
  {
    name: 'nobody there for an hour',
    history: [
      a.started(0),
      a.elected(1, 1),
      a.claimed(1, 'orders', 1),
      a.crashed(3),
      a.started(3600),
      a.elected(3601, 2),
      a.claimed(3602, 'orders', 2),
    ],
    options: { maxSecondsWithoutOwner: 5, maxSecondsWithoutLeader: 5 },
  },
  {
    name: 'everybody paused for an hour',
    history: [
      a.started(0),
      a.claimed(1, 'orders', 1, 3),
      a.paused(2),
      a.resumed(3600),
      a.lost(3600, 'orders'),
      a.claimed(3602, 'orders', 2),
    ],
    options: { maxSecondsWithoutOwner: 5 },
  },
  {
    name: 'the last one drains for a minute',
    history: [a.started(0), a.claimed(1, 'orders', 1), a.stopping(5), a.released(5, 'orders'), a.stopped(65), end(99)],
    options: { maxSecondsWithoutOwner: 5 },
  },
  {
    name: 'a database that is down for a minute',
    history: [
      ...[a.started(0), b.started(0), a.claimed(1, 'orders', 1), ...lastingFault('database down', 5, 65), a.lost(7, 'orders')],
      ...[b.claimed(68, 'orders', 2), end(70)],
    ],
    options: { maxSecondsWithoutOwner: 5, maxSecondsWithoutLeader: 1 },
  },
  {
    name: 'the only instance cut off for a minute',
    history: [
      a.started(0),
      a.claimed(1, 'orders', 1),
      ...lastingFault('network cut', 5, 65, 'a'),
      a.lost(7, 'orders'),
      a.claimed(68, 'orders', 2),
    ],
    options: { maxSecondsWithoutOwner: 5 },
  },
  {
    name: 'one fault after the other, each within the bound of the next',
    history: [
      ...[
        a.started(0),
        b.started(0),
        c.started(0),
        a.claimed(1, 'orders', 1),
        a.crashed(3),
        b.crashed(7),
        { type: 'fault', at: 11, kind: 'session ended' } as const,
      ],
      ...[c.claimed(14, 'orders', 2), end(15)],
    ],
    options: { maxSecondsWithoutOwner: 5 },
  },
  {
    name: 'a rolling restart: each subscription leaves once, and comes back once',
    history: [
      ...[a.started(0), b.started(0), a.claimed(1, 'orders', 1), b.claimed(1, 'mails', 2)],
      ...[
        a.stopping(10),
        a.released(10, 'orders'),
        b.claimed(10, 'orders', 3),
        a.stopped(11),
        a.started(12),
        b.released(13, 'orders'),
        a.claimed(13, 'orders', 4),
      ],
      ...[
        b.stopping(20),
        b.released(20, 'mails'),
        a.claimed(20, 'mails', 5),
        b.stopped(21),
        b.started(22),
        a.released(23, 'mails'),
        b.claimed(23, 'mails', 6),
      ],
    ],
    options: { changeLastsSeconds: 10, maxSecondsWithoutOwner: 1 },
  },
  {
    name: 'a departure of which nothing but its end is recorded',
    history: [a.claimed(0, 'orders', 1), b.claimed(0, 'mails', 2), a.released(50, 'orders'), b.claimed(50, 'orders', 3), a.stopped(51)],
    options: { changeLastsSeconds: 10 },
  },
  {
    name: 'a loss without a recorded fault, and the way back',
    history: [
      ...[a.started(0), b.started(0), a.claimed(1, 'orders', 1, 50), a.lost(52, 'orders'), b.claimed(53, 'orders', 2)],
      ...[b.released(55, 'orders'), a.claimed(55, 'orders', 3)],
    ],
    options: { changeLastsSeconds: 10 },
  },
  {
    name: 'a run that fails, goes elsewhere, and comes back',
    history: [
      ...[
        a.started(0),
        b.started(0),
        a.claimed(1, 'orders', 1),
        a.runs(1, 'orders', 1),
        a.ends(50, 'orders', 'failed'),
        a.released(50, 'orders'),
      ],
      ...[b.claimed(51, 'orders', 2), b.released(55, 'orders'), a.claimed(55, 'orders', 3)],
    ],
    options: { changeLastsSeconds: 10 },
  },
  {
    name: 'a cluster without claims',
    history: [
      ...[a.started(0), b.started(0), a.runs(1, 'orders', null), a.wrote(2, 'orders', 1, null), a.ends(3, 'orders', 'revoked')],
      ...[
        b.runs(3, 'orders', null),
        b.wrote(4, 'orders', 2, null),
        b.paused(5),
        b.resumed(8),
        b.ends(9, 'orders', 'stopping'),
        b.stopped(9),
        a.runs(10, 'orders', null),
      ],
    ],
    options: { ownedBy: 'run', maxSecondsWithoutOwner: 3 },
  },
]
