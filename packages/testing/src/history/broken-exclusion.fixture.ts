import type { BrokenHistory } from './broken-history.fixture.js'
import { chronicle, end } from './chronicle.fixture.js'

const a = chronicle('a')
const b = chronicle('b')
const c = chronicle('c')

/** Two at once, tokens, stale owners: H1 to H7. */
export const BROKEN_EXCLUSION: readonly BrokenHistory[] = [
  {
    name: 'a second leader before the first one has lost it',
    rule: 'two_leaders',
    history: [a.elected(0, 1), b.elected(5, 2), a.unseated(9), b.unseated(12)],
    says: 'b led the cluster under token 2 at 5.000 s while a did under token 1, from 0.000 s until 9.000 s',
  },
  {
    name: 'a second leader whose term takes no time',
    rule: 'two_leaders',
    history: [a.elected(0, 1), b.elected(5, 2), b.unseated(5), a.unseated(9)],
    says: 'b led the cluster',
  },
  {
    name: 'a leader that believes again after a pause, without deadline, while another leads',
    rule: 'two_leaders',
    history: [a.elected(0, 1), a.paused(1), b.elected(3, 2), a.resumed(5), a.unseated(6), b.unseated(9)],
    says: 'a led the cluster under token 1 at 5.000 s while b did',
  },
  {
    name: 'a leader elected while the lease of a paused one can still be trusted',
    rule: 'two_leaders',
    history: [a.elected(0, 1, 4), a.paused(1), b.elected(3, 2, 9), a.resumed(8), a.unseated(8), b.unseated(9)],
    says: 'while a did under token 1, from 0.000 s until 4.000 s',
  },
  {
    name: 'three leaders of which the first outlasts the others',
    rule: 'two_leaders',
    history: [a.elected(0, 1), b.elected(2, 2), b.unseated(3), c.elected(4, 3), c.unseated(5), a.unseated(9)],
    says: 'b led',
  },
  {
    name: 'a second claim before the first is released',
    rule: 'two_owners',
    history: [a.claimed(0, 'orders', 1), b.claimed(4, 'orders', 2), a.released(6, 'orders'), b.released(9, 'orders')],
    options: { skip: ['needless_move'] },
    says: 'b held the claim on orders under token 2 at 4.000 s while a did',
  },
  {
    name: 'a claim while a renewed one lasts',
    rule: 'two_owners',
    history: [a.claimed(0, 'orders', 1, 3), a.holds(2, 5), b.claimed(4, 'orders', 2, 9), a.lost(6, 'orders')],
    says: 'from 0.000 s until 5.000 s',
  },
  {
    name: 'a run that goes on after its claim was released',
    rule: 'two_runs',
    history: [
      ...[a.claimed(0, 'orders', 1), a.runs(1, 'orders', 1), a.released(4, 'orders')],
      ...[b.claimed(5, 'orders', 2), b.runs(5, 'orders', 2), a.ends(7, 'orders', 'revoked'), end(9)],
    ],
    says: 'b ran orders under token 2 at 5.000 s while a did',
  },
  {
    name: 'two runs in a cluster without claims',
    rule: 'two_runs',
    history: [a.runs(0, 'orders', null), b.runs(5, 'orders', null), a.ends(6, 'orders', 'lost'), end(9)],
    options: { ownedBy: 'run' },
    says: 'b ran orders at 5.000 s while a did',
  },
  {
    name: 'a term under a smaller token',
    rule: 'token_not_growing',
    history: [a.elected(0, 7), a.unseated(2), b.elected(3, 6), b.unseated(4)],
    says: 'b got token 6 for its term at 3.000 s, and a had got 7 at 0.000 s',
  },
  {
    name: 'a term under the token of the one before',
    rule: 'token_not_growing',
    history: [a.elected(0, 7), a.unseated(2), a.elected(3, 7), a.unseated(4)],
    says: 'a had got the same',
  },
  {
    name: 'a claim under a smaller token than an earlier one',
    rule: 'token_not_growing',
    history: [a.claimed(0, 'orders', 7), a.lost(2, 'orders'), b.claimed(3, 'orders', 5), b.lost(4, 'orders')],
    says: 'b got token 5 for orders',
  },
  {
    name: 'two claims under one token in one instant',
    rule: 'token_not_growing',
    history: [a.claimed(0, 'orders', 7), a.lost(3, 'orders'), b.claimed(3, 'orders', 7), b.lost(4, 'orders')],
    says: 'the same',
  },
  {
    name: 'a checkpoint under a smaller token after a larger one has written',
    rule: 'stale_write',
    history: [
      ...[a.claimed(0, 'orders', 1), a.runs(0, 'orders', 1), a.wrote(1, 'orders', 1, 1), a.lost(3, 'orders')],
      ...[
        b.claimed(4, 'orders', 2),
        b.runs(4, 'orders', 2),
        b.wrote(5, 'orders', 2, 2),
        a.wrote(6, 'orders', 3, 1),
        a.ends(7, 'orders', 'lost'),
      ],
    ],
    says: 'a wrote orders up to position 3 under token 1 at 6.000 s, after token 2 had written at 5.000 s',
  },
  {
    name: 'a checkpoint under a smaller token after a larger one was put down',
    rule: 'stale_write',
    history: [
      ...[a.claimed(0, 'orders', 1), a.wrote(1, 'orders', 1, 1), a.lost(3, 'orders')],
      ...[b.claimed(4, 'orders', 2), b.wrote(4, 'orders', 1, 2, { from: 2 }), a.wrote(6, 'orders', 2, 1)],
    ],
    says: 'after token 2 had written',
  },
  {
    name: 'an event applied by a stale owner',
    rule: 'stale_write',
    history: [
      ...[a.claimed(0, 'orders', 1), a.applied(1, 'orders', 1, 1), a.lost(3, 'orders')],
      ...[b.claimed(4, 'orders', 2), b.applied(5, 'orders', 2, 2), a.applied(6, 'orders', 3, 1), a.applied(6, 'orders', 4, 1)],
    ],
    says: 'a wrote orders up to position 3',
  },
  {
    name: 'a checkpoint written after the claim was lost and another one had begun',
    rule: 'late_write',
    history: [
      a.claimed(0, 'orders', 1),
      a.wrote(1, 'orders', 1, 1),
      a.lost(3, 'orders'),
      b.claimed(4, 'orders', 2),
      a.wrote(5, 'orders', 2, 1),
    ],
    says: 'its claim had ended at 3.000 s, and a claim under token 2 had begun at 4.000 s',
  },
  {
    name: 'a checkpoint written past the deadline of the claim, after another one had begun',
    rule: 'late_write',
    history: [a.claimed(0, 'orders', 1, 3), b.claimed(4, 'orders', 2), a.wrote(5, 'orders', 1, 1), a.lost(6, 'orders')],
    says: 'its claim had ended at 3.000 s',
  },
  {
    name: 'a leader that still leads past its deadline',
    rule: 'trusted_too_long',
    history: [a.elected(0, 1, 3), a.leads(2, 5), a.leads(6), a.unseated(7)],
    says: 'a still leads at 6.000 s, and could trust its term under token 1 until 5.000 s',
  },
  {
    name: 'a term that is renewed past its deadline',
    rule: 'trusted_too_long',
    history: [a.elected(0, 1, 3), a.leads(4, 7), a.unseated(5)],
    says: 'until 3.000 s',
  },
  {
    name: 'a claim that is held past its deadline',
    rule: 'trusted_too_long',
    history: [a.claimed(0, 'orders', 1, 3), a.holds(2, 5), a.holds(6, 9), a.lost(7, 'orders')],
    says: 'a still holds orders at 6.000 s, and could trust that until 5.000 s',
  },
  {
    name: 'a run that starts past the deadline of its claim',
    rule: 'trusted_too_long',
    history: [a.claimed(0, 'orders', 1, 3), a.runs(4, 'orders', 1), a.ends(5, 'orders', 'lost'), a.lost(5, 'orders')],
    says: 'a starts to run orders at 4.000 s, and could trust its claim until 3.000 s',
  },
]
