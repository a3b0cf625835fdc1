import { type Findings, lengthOf, type Verdict } from './verdict.js'

/** The last line of the demo, for machines. */
export type Summary =
  | { readonly demo: typeof DEMO; readonly ok: boolean; readonly failed: readonly string[]; readonly [detail: string]: unknown }
  | { readonly demo: typeof DEMO; readonly ok: false; readonly error: string }

const DEMO = 'shared-subscriptions'

/** What a run that came to its verdict is summed up from. */
export interface SummaryInput {
  readonly findings: Findings
  readonly verdict: Verdict
  readonly timeline: string
  readonly seconds: number
}

/** A run that came to its verdict. */
export function summarize({ findings: { evidence }, verdict, timeline, seconds }: SummaryInput): Summary {
  const sum = (count: (each: (typeof evidence)[number]) => number): number => evidence.reduce((total, each) => total + count(each), 0)
  return {
    demo: DEMO,
    ok: verdict.holds,
    failed: verdict.checks.filter(({ isFine }) => !isFine).map(({ name }) => name),
    subscriptions: evidence.length,
    events: evidence[0]?.events ?? 0,
    read: sum(({ applied }) => applied),
    lost: sum(({ lost }) => lost),
    appliedTwice: sum(({ appliedTwice }) => appliedTwice),
    wrongRows: sum(({ wrongRows }) => wrongRows),
    starts: verdict.starts,
    fewestStarts: verdict.fewestStarts,
    phases: verdict.costs.map(({ phase, longestGap, starts }) => ({
      kind: phase.kind,
      longestGapMs: longestGap === null ? 0 : toMs(lengthOf(longestGap)),
      limitMs: toMs(phase.gapLimitSeconds),
      starts,
      fewestStarts: phase.fewestStarts,
    })),
    timeline,
    seconds: Number(seconds.toFixed(1)),
  }
}

/** A run that came to no verdict. */
export function summarizeFailure(error: string): Summary {
  return { demo: DEMO, ok: false, error }
}

function toMs(seconds: number): number | null {
  return Number.isFinite(seconds) ? Math.round(seconds * 1000) : null
}
