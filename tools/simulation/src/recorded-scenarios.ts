import { HEARTBEAT_TOPIC, WORK_ASSIGNMENT_TOPIC } from '@es/coordination-core'
import type { Scenario, ScenarioStep } from '@es/coordination-testing'

/** A scenario whose transcript is kept in `scenarios/`. */
export interface RecordedScenario {
  /** Of the file, without its ending. */
  readonly name: string
  /** Two sentences: what happens, and what to look for. */
  readonly preface: readonly [string, string]
  readonly scenario: Scenario
}

const START: readonly ScenarioStep[] = ['a', 'b', 'c'].map((who) => ({ do: 'start', who, afterSeconds: 0.1 }))
const AN_HOUR = 3600

/** Six subscriptions, and in the beginning three instances of which `a` leads. */
function scenario(...steps: readonly ScenarioStep[]): Scenario {
  return { seed: 1, subscriptions: 6, steps: [...START, { do: 'wait', afterSeconds: 4 }, ...steps] }
}

export const RECORDED_SCENARIOS: readonly RecordedScenario[] = [
  {
    name: 'leader-dies',
    preface: [
      'The leader is killed; the backend sees its connection close, the other instances hear nothing.',
      'Another one leads in milliseconds, gives the dead one half a second to come back, and then only the work of the dead one moves.',
    ],
    scenario: scenario({ do: 'crash', who: 'a' }, { do: 'wait', afterSeconds: 4 }),
  },
  {
    name: 'graceful-shutdown',
    preface: [
      'The leader is asked to leave while one of its runs is slow to end.',
      'It announces that it leaves and hands leadership over at once; what has ended moves at once, and what is slow moves when it has ended.',
    ],
    scenario: scenario(
      { do: 'misbehave', subscription: 's4', how: 'is_slow', forSeconds: 3 },
      { do: 'stop', who: 'a', afterSeconds: 0.5 },
      { do: 'wait', afterSeconds: 4 },
    ),
  },
  {
    name: 'restart-with-same-id',
    preface: [
      'An instance leaves in order and is back half a second later under its old id, within the time that it had announced for leaving.',
      'Its new life counts from its first heartbeat, whatever the old one had announced, and after a second of trial it has its share of the work again.',
    ],
    scenario: scenario({ do: 'restart', who: 'b', downSeconds: 0.5 }, { do: 'wait', afterSeconds: 4 }),
  },
  {
    name: 'two-leaders-cross',
    preface: [
      'What the leader a says takes three seconds, and before c hears that it is to let go of s6, a is dead and b has spoken.',
      'The late word of the dead leader changes nothing: c has heard a newer term, and keeps s6.',
    ],
    scenario: scenario(
      { do: 'bad_network', from: 'a', topic: WORK_ASSIGNMENT_TOPIC, delaySeconds: 3 },
      { do: 'start', who: 'd', afterSeconds: 0.1 },
      { do: 'crash', who: 'a', afterSeconds: 1.6 },
      { do: 'wait', afterSeconds: 5 },
    ),
  },
  {
    name: 'partition-heals',
    preface: [
      'The leader is cut off from the others for five seconds, and they from it; all of them still reach the backend.',
      'Each side takes the other for stale, but what holds its claims keeps its work, and who holds the leadership leads: nothing moves.',
    ],
    scenario: scenario({ do: 'partition', groups: [['a'], ['b', 'c']], forSeconds: 5 }, { do: 'wait', afterSeconds: 8 }),
  },
  {
    name: 'late-heartbeat',
    preface: [
      'A heartbeat in which c says that it runs two subscriptions takes three seconds; meanwhile one of the two has moved.',
      'When it arrives nobody believes it, since later ones have overtaken it: nothing follows.',
    ],
    scenario: scenario(
      { do: 'bad_network', from: 'c', topic: HEARTBEAT_TOPIC, delaySeconds: 3, forSeconds: 1 },
      { do: 'start', who: 'd', afterSeconds: 1 },
      { do: 'wait', afterSeconds: 6 },
    ),
  },
  {
    name: 'clock-jumps',
    preface: [
      'The wall clock of one instance jumps an hour ahead, that of the leader an hour back, and the third counts eight percent too fast.',
      'Nothing follows: who is alive is measured by when messages arrive, leases by how long ago they were renewed, and nothing by wall clocks.',
    ],
    scenario: scenario(
      { do: 'jump_clock', who: 'b', bySeconds: AN_HOUR },
      { do: 'jump_clock', who: 'a', bySeconds: -AN_HOUR, afterSeconds: 1 },
      { do: 'drift', who: 'c', rate: 1.08, afterSeconds: 1 },
      { do: 'wait', afterSeconds: 10 },
    ),
  },
  {
    name: 'rolling-restart',
    preface: [
      'Two instances are restarted one after the other under their ids, the leader last, as a platform does in a rolling update.',
      'Each hands its work over before it goes and gets it back when it returns; what the others run stays.',
    ],
    scenario: {
      seed: 1,
      subscriptions: 4,
      steps: [
        ...START.slice(0, 2),
        { do: 'restart', who: 'b', afterSeconds: 4, downSeconds: 1 },
        { do: 'restart', who: 'a', afterSeconds: 5, downSeconds: 1 },
        { do: 'wait', afterSeconds: 5 },
      ],
    },
  },
  {
    name: 'leader-stands-still',
    preface: [
      'The process of the leader stands still for six seconds, twice as long as its lease, and then goes on where it was.',
      'The backend ends its session after the lease, another one leads, and the first thing that it learns on waking is that everything is lost.',
    ],
    scenario: scenario({ do: 'pause', who: 'a', forSeconds: 6 }, { do: 'wait', afterSeconds: 10 }),
  },
  {
    name: 'backend-restarts',
    preface: [
      'The backend goes down for two seconds and comes back without any memory of locks.',
      'All lose leadership and claims and stop what they run; once the backend has been up for a lease, so that nobody can still believe in what it had before, each takes up again what it had.',
    ],
    scenario: scenario({ do: 'restart_backend', forSeconds: 2 }, { do: 'wait', afterSeconds: 9 }),
  },
]
