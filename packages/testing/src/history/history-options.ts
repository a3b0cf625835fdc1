import { invalidOption, requireInteger, requireName, requireOptions, requireSeconds } from '@es/coordination-core'
import { HISTORY_RULES, type HistoryRule } from './history-rules.js'

/** What `checkHistory` goes by. The safety rules need none of it. */
export interface HistoryCheckOptions {
  /**
   * What makes an instance the owner of a subscription: a claim, or in a cluster without claims the run itself. With `run`, a run needs no claim, and
   * gaps and moves are those of the runs.
   * @default 'claim'
   */
  readonly ownedBy?: 'claim' | 'run'
  /** Subscriptions that must be owned from the beginning to the end; others from the first event that names them. @default none */
  readonly subscriptions?: readonly string[]
  /**
   * H8: longest time a subscription may be without owner. It counts anew from every change of membership and every fault, and not while a fault that
   * befalls everybody lasts, nor while no instance is there that could take it.
   * @default Infinity
   */
  readonly maxSecondsWithoutOwner?: number
  /** H9: longest time without a leader, counted as in {@link maxSecondsWithoutOwner}. A history in which nobody is ever elected is not judged. @default Infinity */
  readonly maxSecondsWithoutLeader?: number
  /**
   * How far the recorded time of an event may be off. Two owners for no longer than this are none, and a killed process may have recorded something for
   * this long. A large one hides real faults.
   * @default 0
   */
  readonly toleranceSeconds?: number
  /** H13: how often one change may make a subscription move between instances that stay. @default 1 */
  readonly movesPerChange?: number
  /**
   * H13: how long a change may take to have its effect, in seconds. A small one finds a cluster that moves work about long after anything happened;
   * below the time that a rebalance in small steps takes, it raises false alarms.
   * @default Infinity
   */
  readonly changeLastsSeconds?: number
  /** Position of the first event of every subscription. @default 1 */
  readonly firstPosition?: number
  /** H10: how far each subscription had to get by the end. @default as far as it got */
  readonly lastPositions?: ReadonlyMap<string, number>
  /** H10: how many positions may be missing where their writer was killed: accepted, and not recorded any more. @default 0 */
  readonly maxUnrecordedAtCrash?: number
  /** Rules that are not judged. @default none */
  readonly skip?: readonly HistoryRule[]
  /** How many breaches are described, in the order of time; all are counted. @default 100 */
  readonly maxBreaches?: number
  /** How many events of the same affair are shown before and after each event of a breach. @default 5 */
  readonly windowSize?: number
}

/** The options with their defaults, checked. */
export type ParsedHistoryOptions = { readonly [Name in keyof Required<HistoryCheckOptions>]: Required<HistoryCheckOptions>[Name] }

/** @throws CoordinationError `invalid_options` naming the option, its value and the rule. */
export function parseHistoryOptions(options: HistoryCheckOptions): ParsedHistoryOptions {
  const { ownedBy = 'claim', skip = [], subscriptions = [], lastPositions = new Map<string, number>() } = requireOptions(options)
  if (ownedBy !== 'claim' && ownedBy !== 'run') throw invalidOption('ownedBy', ownedBy, `'claim' or 'run'`)
  for (const [name, list] of Object.entries({ skip, subscriptions })) if (!Array.isArray(list)) throw invalidOption(name, list, 'a list')
  for (const name of subscriptions) requireName('every subscription', name)
  if (!(lastPositions instanceof Map)) throw invalidOption('lastPositions', lastPositions, 'a Map of positions by subscription')
  for (const position of lastPositions.values()) requireInteger('every last position', position)
  for (const rule of skip)
    if (!Object.hasOwn(HISTORY_RULES, rule)) throw invalidOption('skip', rule, `a list of ${Object.keys(HISTORY_RULES).join(', ')}`)
  return {
    ownedBy,
    skip,
    subscriptions,
    maxSecondsWithoutOwner: boundOrNone('maxSecondsWithoutOwner', options.maxSecondsWithoutOwner),
    maxSecondsWithoutLeader: boundOrNone('maxSecondsWithoutLeader', options.maxSecondsWithoutLeader),
    toleranceSeconds: requireSeconds('toleranceSeconds', options.toleranceSeconds ?? 0, { atLeast: 0 }),
    movesPerChange: requireInteger('movesPerChange', options.movesPerChange ?? 1, { atMost: 1000 }),
    changeLastsSeconds: boundOrNone('changeLastsSeconds', options.changeLastsSeconds),
    firstPosition: requireInteger('firstPosition', options.firstPosition ?? 1),
    lastPositions,
    maxUnrecordedAtCrash: requireInteger('maxUnrecordedAtCrash', options.maxUnrecordedAtCrash ?? 0),
    maxBreaches: requireInteger('maxBreaches', options.maxBreaches ?? 100),
    windowSize: requireInteger('windowSize', options.windowSize ?? 5, { atMost: 1000 }),
  }
}

function boundOrNone(name: string, value: number = Number.POSITIVE_INFINITY): number {
  return value === Number.POSITIVE_INFINITY ? value : requireSeconds(name, value, { atLeast: 0 })
}
