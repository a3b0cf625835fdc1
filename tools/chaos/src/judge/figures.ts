import type { FaultName } from '../plan/fault-kinds.js'
import type { StoreEvidence } from './store-evidence.js'
import type { Verdict } from './verdict.js'

/** A run in numbers, as plain data. */
export interface RunFigures {
  readonly seconds: number
  readonly faults: Readonly<Partial<Record<FaultName, number>>>
  readonly faultCount: number
  /** Processes started in place of others. */
  readonly restarts: number
  readonly terms: number
  readonly claims: number
  readonly moves: number
  readonly events: number
  /** Over all subscriptions. */
  readonly applied: number
  readonly refusedWrites: number
  readonly longestGapWithoutLeaderSeconds: number
  readonly longestGapWithoutOwnerSeconds: number
  /** After the last change or fault: what the bounds are for. */
  readonly longestRecoveryOfLeaderSeconds: number
  readonly longestRecoveryOfOwnerSeconds: number
  /** A former holder, awake, whose session was ended on the server, and who knew a moment after somebody else had the lock. */
  readonly excusedOverlaps: number
  readonly longestExcusedOverlapSeconds: number
  readonly breaches: number
}

/** What a run is counted from. */
export interface RunRecord {
  readonly verdict: Verdict
  readonly evidence: StoreEvidence
  /** How often each kind of fault was done. */
  readonly faults: ReadonlyMap<FaultName, number>
  readonly restarts: number
}

export function figuresOf({ verdict, evidence, faults, restarts }: RunRecord): RunFigures {
  const { report, overlaps } = verdict
  const { figures, breachCount } = report
  const { subscriptions, leader } = figures
  const total = (count: (each: (typeof subscriptions)[number]) => number): number =>
    subscriptions.reduce((sum, each) => sum + count(each), 0)
  const longest = (length: (each: (typeof subscriptions)[number]) => number): number => Math.max(0, ...subscriptions.map(length))
  return {
    seconds: figures.durationSeconds,
    faults: Object.fromEntries(faults),
    faultCount: [...faults.values()].reduce((sum, count) => sum + count, 0),
    restarts,
    terms: figures.terms,
    claims: total(({ claims }) => claims),
    moves: total(({ moves }) => moves),
    events: evidence.log.events,
    applied: total(({ applied }) => applied),
    refusedWrites: total(({ refusals }) => refusals),
    longestGapWithoutLeaderSeconds: leader?.longestGapSeconds ?? 0,
    longestGapWithoutOwnerSeconds: longest(({ longestGapSeconds }) => longestGapSeconds),
    longestRecoveryOfLeaderSeconds: leader?.longestRecoverySeconds ?? 0,
    longestRecoveryOfOwnerSeconds: longest(({ longestRecoverySeconds }) => longestRecoverySeconds),
    excusedOverlaps: overlaps.excused,
    longestExcusedOverlapSeconds: overlaps.longestSeconds,
    breaches: breachCount,
  }
}
