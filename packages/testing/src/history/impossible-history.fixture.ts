import type { BrokenHistory } from './broken-history.fixture.js'
import { chronicle, end, lastingFault } from './chronicle.fixture.js'
import type { HistoryEvent } from './history-event.js'

const a = chronicle('a')
const b = chronicle('b')

/** What cannot be: H14. */
export const IMPOSSIBLE: readonly BrokenHistory[] = [
  {
    name: 'a run without a claim',
    rule: 'impossible',
    history: [a.runs(1, 'orders', null), a.ends(2, 'orders')],
    says: 'a starts to run orders, and holds no claim on it',
  },
  {
    name: 'a run under another token than its claim',
    rule: 'impossible',
    history: [a.claimed(0, 'orders', 2), a.runs(1, 'orders', 1)],
    says: 'a runs orders under token 1, and holds it under token 2',
  },
  {
    name: 'a run that was not given the token of its claim',
    rule: 'impossible',
    history: [a.claimed(0, 'orders', 2), a.runs(1, 'orders', null)],
    says: 'a runs orders without a token, and holds it under token 2',
  },
  {
    name: 'a run that starts twice',
    rule: 'impossible',
    history: [a.claimed(0, 'orders', 2), a.runs(1, 'orders', 2), a.runs(2, 'orders', 2)],
    says: 'runs it already',
  },
  {
    name: 'an end of a run without its start',
    rule: 'impossible',
    history: [a.ends(1, 'orders')],
    says: 'a stops to run orders, and did not run it',
  },
  {
    name: 'a release without a claim',
    rule: 'impossible',
    history: [a.released(1, 'orders')],
    says: 'a releases orders, and held no claim on it',
  },
  {
    name: 'a loss of another claim',
    rule: 'impossible',
    history: [a.claimed(0, 'orders', 2), { ...a.lost(1, 'orders'), token: 1n } as HistoryEvent],
    says: 'token 1, and holds it under token 2',
  },
  {
    name: 'a claim that is held already',
    rule: 'impossible',
    history: [a.claimed(0, 'orders', 1), a.claimed(1, 'orders', 2)],
    says: 'holds it already',
  },
  {
    name: 'a loss of leadership without an election',
    rule: 'impossible',
    history: [a.unseated(1)],
    says: 'a loses leadership, and did not lead',
  },
  { name: 'a renewal without an election', rule: 'impossible', history: [a.leads(1, 3)], says: 'did not lead' },
  { name: 'an election of the leader', rule: 'impossible', history: [a.elected(0, 1), a.elected(1, 2)], says: 'leads already' },
  {
    name: 'a write under a token that nobody got',
    rule: 'impossible',
    history: [a.claimed(0, 'orders', 1), a.wrote(1, 'orders', 1, 9)],
    says: 'and never got that token',
  },
  {
    name: 'a write under the token of another',
    rule: 'impossible',
    history: [a.claimed(0, 'orders', 1), b.wrote(1, 'orders', 1, 1)],
    says: 'b wrote orders',
  },
  { name: 'a time that goes back', rule: 'impossible', history: [a.started(3), a.elected(2, 1)], says: 'a goes back in time' },
  {
    name: 'an act of the dead',
    rule: 'impossible',
    history: [a.started(0), a.crashed(1), a.elected(2, 1)],
    says: 'a records elected at 2.000 s, and crashed at 1.000 s',
  },
  {
    name: 'a write of the dead',
    rule: 'impossible',
    history: [a.claimed(0, 'orders', 1), a.crashed(1), a.wrote(2, 'orders', 1, 1)],
    says: 'records checkpoint_written',
  },
  {
    name: 'an act of one that has stopped',
    rule: 'impossible',
    history: [a.started(0), a.stopped(1), a.elected(2, 1)],
    says: 'and stopped at 1.000 s',
  },
  {
    name: 'an act of one that stands still',
    rule: 'impossible',
    history: [a.started(0), a.paused(1), a.elected(2, 1), a.resumed(3)],
    says: 'a records something at 2.000 s, and stood still from 1.000 s',
  },
  { name: 'an act of one that is never resumed', rule: 'impossible', history: [a.paused(1), a.elected(2, 1)], says: 'stood still' },
  { name: 'a second pause', rule: 'impossible', history: [a.paused(1), a.paused(2)], says: 'a is paused while it is paused' },
  { name: 'an end of no pause', rule: 'impossible', history: [a.resumed(1)], says: 'a is resumed, and was not paused' },
  { name: 'a second death', rule: 'impossible', history: [a.crashed(1), a.crashed(2)], says: 'a crashes after it had crashed' },
  {
    name: 'a start of one that is there',
    rule: 'impossible',
    history: [a.started(0), a.started(1)],
    says: 'a starts, and had neither stopped nor crashed',
  },
  {
    name: 'a stop in the middle of everything',
    rule: 'impossible',
    history: [a.elected(0, 1), a.claimed(0, 'orders', 2), a.runs(1, 'orders', 2), a.stopped(2)],
    says: 'never ended its term under token 1, its claim on orders, its run of orders',
  },
  {
    name: 'an end of a fault that never began',
    rule: 'impossible',
    history: [lastingFault('network cut', 0, 1)[1]],
    says: 'The fault "network cut" ends, and had not begun',
  },
  {
    name: 'a fault that begins twice',
    rule: 'impossible',
    history: [lastingFault('network cut', 0, 1)[0], lastingFault('network cut', 1, 2)[0]],
    says: 'had not ended',
  },
  {
    name: 'events after the end',
    rule: 'impossible',
    history: [end(1), a.started(2)],
    says: 'The history goes on with instance_started after its end',
  },
]
