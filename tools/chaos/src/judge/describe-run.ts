import { formatBreaches } from '@es/coordination-testing'
import type { RecoveryBounds } from '../cluster-settings.js'
import { FAULT_KINDS, FAULT_NAMES } from '../plan/fault-kinds.js'
import type { RunFigures } from './figures.js'
import type { Verdict } from './verdict.js'

/** What is known of a run that came to its end. */
export interface RunOutcome {
  readonly verdict: Verdict
  readonly figures: RunFigures
  readonly bounds: RecoveryBounds
  /** Of PostgreSQL. */
  readonly serverVersion: string
}

/** The figures as rows of two. */
export function figureRows({ figures, bounds }: Pick<RunOutcome, 'figures' | 'bounds'>): readonly (readonly [string, string])[] {
  const number = (value: number): string => value.toLocaleString('en-US')
  const seconds = (value: number): string => `${value.toFixed(2)} s`
  return [
    ['duration', seconds(figures.seconds)],
    ['faults', number(figures.faultCount)],
    ['processes started again', number(figures.restarts)],
    ['terms of leadership', number(figures.terms)],
    ['claims', number(figures.claims)],
    ['moves to another owner', number(figures.moves)],
    ['events in the log', number(figures.events)],
    ['events applied', number(figures.applied)],
    ['writes refused by the token', number(figures.refusedWrites)],
    ['longest gap without a leader', seconds(figures.longestGapWithoutLeaderSeconds)],
    ['longest gap without an owner', seconds(figures.longestGapWithoutOwnerSeconds)],
    [
      'longest recovery of leadership after the last fault',
      `${seconds(figures.longestRecoveryOfLeaderSeconds)} (bound ${seconds(bounds.leaderSeconds)})`,
    ],
    [
      'longest recovery of a subscription after the last fault',
      `${seconds(figures.longestRecoveryOfOwnerSeconds)} (bound ${seconds(bounds.ownerSeconds)})`,
    ],
    [
      'overlaps after a session was ended on the server',
      `${number(figures.excusedOverlaps)}, the longest ${(figures.longestExcusedOverlapSeconds * 1000).toFixed(0)} ms`,
    ],
    ['breaches', number(figures.breaches)],
  ]
}

/** How often each kind of fault happened, as rows of two. */
export function faultRows({ faults }: RunFigures): readonly (readonly [string, string])[] {
  return FAULT_NAMES.filter((name) => (faults[name] ?? 0) > 0).map((name) => [FAULT_KINDS[name].title, String(faults[name])])
}

/** The run for a terminal. */
export function describeRun(outcome: RunOutcome): string[] {
  const { checks, holds, report } = outcome.verdict
  return [
    '',
    ...aligned(faultRows(outcome.figures)),
    '',
    ...aligned(figureRows(outcome)),
    '',
    ...aligned(checks.map(({ name, isFine, found }) => [`${isFine ? 'ok    ' : 'FAILED'} ${name}`, found])),
    ...(report.breachCount > 0 ? ['', formatBreaches(report)] : []),
    '',
    holds ? 'The verdict holds.' : 'THE VERDICT DOES NOT HOLD.',
  ]
}

function aligned(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(0, ...rows.map(([name]) => name.length))
  return rows.map(([name, value]) => `  ${name.padEnd(width)}  ${value}`)
}
