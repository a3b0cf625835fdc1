import { chronicle, end } from './chronicle.fixture.js'
import type { CorrectHistory } from './correct-history.fixture.js'
import type { HistoryEvent } from './history-event.js'

const a = chronicle('a')
const b = chronicle('b')
const c = chronicle('c')

/** Who owns and leads. */
export const CORRECT_OWNERSHIP: readonly CorrectHistory[] = [
  { name: 'nothing at all', history: [] },
  {
    name: 'a handover in one instant',
    history: [
      a.elected(0, 1),
      a.claimed(0, 'orders', 1),
      a.unseated(5),
      b.elected(5, 2),
      a.released(5, 'orders'),
      b.claimed(5, 'orders', 2),
    ],
  },
  {
    name: 'a handover in one instant, the successor recorded first',
    history: [
      b.elected(5, 2),
      b.claimed(5, 'orders', 2),
      a.elected(0, 1),
      a.claimed(0, 'orders', 1),
      a.unseated(5),
      a.released(5, 'orders'),
    ],
  },
  {
    name: 'three owners, writes and all, in one tick of a coarse clock, recorded backwards',
    history: [
      ...[c.claimed(1, 'orders', 3), c.runs(1, 'orders', 3), c.wrote(1, 'orders', 3, 3)],
      ...[b.claimed(1, 'orders', 2), b.runs(1, 'orders', 2), b.wrote(1, 'orders', 2, 2), b.ends(1, 'orders', 'lost'), b.lost(1, 'orders')],
      ...[a.claimed(1, 'orders', 1), a.runs(1, 'orders', 1), a.wrote(1, 'orders', 1, 1), a.ends(1, 'orders', 'lost'), a.lost(1, 'orders')],
    ],
  },
  {
    name: 'a pause beyond the lease, noticed afterwards',
    history: [
      ...[a.elected(0, 1, 2), a.claimed(0, 'orders', 2, 2), a.runs(0, 'orders', 2), a.leads(1, 3), a.holds(1, 3), a.paused(1.5)],
      ...[b.elected(4, 3, 6), b.claimed(4, 'orders', 4, 6), b.runs(4, 'orders', 4), b.leads(5, 60), b.holds(5, 60)],
      ...[a.resumed(9), a.unseated(9.01), a.lost(9.01, 'orders'), a.refused(9.02, 'orders', 2), a.ends(9.5, 'orders', 'lost'), end(10)],
    ],
  },
  {
    name: 'a pause of an instance that records no deadlines and knows at once that it has lost',
    history: [a.elected(0, 1), a.paused(1), b.elected(4, 2), a.resumed(9), a.unseated(9), a.paused(12), a.resumed(13), end(20)],
  },
  {
    name: 'a pause within the lease',
    history: [
      a.elected(0, 1, 3),
      a.claimed(0, 'orders', 1, 3),
      a.runs(0, 'orders', 1),
      a.paused(1),
      a.resumed(2),
      a.leads(2, 5),
      a.holds(2, 5),
    ],
  },
  {
    name: 'a process that is killed while it stands still',
    history: [
      a.started(0),
      a.elected(0, 1),
      a.claimed(0, 'orders', 1),
      a.paused(1),
      a.crashed(3),
      b.elected(3, 2),
      b.claimed(3, 'orders', 2),
    ],
  },
  {
    name: 'a crash in the middle of everything, and the successor in the same instant',
    history: [
      ...[a.started(0), a.elected(0, 1), a.claimed(0, 'orders', 1, 9), a.runs(0, 'orders', 1), a.wrote(1, 'orders', 1, 1), a.crashed(2)],
      ...[b.elected(2, 2), b.claimed(2, 'orders', 2), b.runs(2, 'orders', 2), b.wrote(2, 'orders', 2, 2)],
    ],
  },
  {
    name: 'a restart with the same id',
    history: [
      ...[a.started(0), a.elected(0, 1), a.claimed(0, 'orders', 1), a.runs(0, 'orders', 1), a.crashed(2)],
      ...[a.started(3), a.elected(3, 2), a.claimed(3, 'orders', 2), a.runs(3, 'orders', 2), a.wrote(4, 'orders', 1, 2)],
      ...[a.stopping(5), a.ends(5, 'orders', 'stopping'), a.released(5, 'orders'), a.unseated(5), a.stopped(6), a.started(7), end(8)],
    ],
  },
  {
    name: 'claims that come again after a deadline, before the loss was reported',
    history: [a.claimed(0, 'orders', 1, 2), a.elected(0, 1, 2), a.claimed(5, 'orders', 2, 9), a.elected(5, 2, 9)],
  },
  {
    name: 'one token for the claims of a batch, and for the term',
    history: [a.elected(0, 5), a.claimed(0, 'orders', 5), a.claimed(0, 'mails', 5), b.claimed(1, 'bills', 4)],
  },
  {
    name: 'a run that takes its time to notice the loss, beside the one of the next owner',
    history: [
      ...[a.claimed(0, 'orders', 1, 2), a.runs(0, 'orders', 1), a.lost(3, 'orders')],
      ...[b.claimed(3, 'orders', 2), b.runs(3, 'orders', 2), a.refused(4, 'orders', 1), a.ends(5, 'orders', 'lost')],
    ],
  },
  {
    name: 'a run that is given up, and tries to write for ever after',
    history: [
      ...[a.started(0), a.claimed(0, 'orders', 1), a.runs(0, 'orders', 1), a.wrote(1, 'orders', 1, 1), a.stopping(2)],
      ...[a.ends(9, 'orders', 'abandoned'), a.released(9, 'orders'), a.stopped(9)],
      ...[b.claimed(9, 'orders', 2), b.runs(9, 'orders', 2), b.wrote(10, 'orders', 2, 2), a.refused(11, 'orders', 1)],
    ],
  },
  {
    name: 'electors without tokens',
    history: [
      { ...a.elected(0, 1), token: null } as HistoryEvent,
      a.unseated(1),
      { ...b.elected(2, 1), token: null } as HistoryEvent,
      { ...a.wrote(2, 'orders', 1, null) },
    ],
  },
  {
    name: 'events in any order',
    history: [b.claimed(5, 'orders', 2), end(6), a.claimed(0, 'orders', 1), a.crashed(4)],
  },
  {
    name: 'clocks that are off by less than the tolerance',
    history: [
      ...[a.elected(0, 1), a.claimed(0, 'orders', 1), a.runs(0, 'orders', 1), b.claimed(4.99, 'orders', 2), b.elected(4.99, 2)],
      ...[a.unseated(5), a.ends(5, 'orders', 'lost'), a.lost(5, 'orders'), a.paused(6), a.holds(6.01, 7), a.resumed(9)],
    ],
    options: { toleranceSeconds: 0.02 },
  },
  {
    name: 'a spell shorter than the tolerance inside one of another instance',
    history: [a.elected(0, 1), b.elected(2, 2), b.unseated(2.01), a.unseated(5)],
    options: { toleranceSeconds: 0.02 },
  },
  {
    name: 'what a process recorded while it was being killed',
    history: [
      ...[a.started(0), a.claimed(0, 'orders', 1), a.wrote(1, 'orders', 1, 1), a.crashed(2)],
      ...[
        a.claimed(2.001, 'mails', 2),
        a.wrote(2.002, 'orders', 2, 1),
        a.released(2.003, 'orders'),
        b.claimed(3, 'orders', 3),
        b.claimed(3, 'mails', 4),
      ],
      ...[b.wrote(4, 'orders', 3, 3)],
    ],
    options: { toleranceSeconds: 0.01 },
  },
]
