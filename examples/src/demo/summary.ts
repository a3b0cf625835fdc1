import { committedAfterSeconds, electedAfterSeconds, type Findings, type Verdict } from './verdict.js'

/** The last line of the demo, for machines. */
export type Summary =
  | { readonly demo: typeof DEMO; readonly ok: boolean; readonly failed: readonly string[]; readonly [detail: string]: unknown }
  | { readonly demo: typeof DEMO; readonly ok: false; readonly error: string }

const DEMO = 'one-leader'

/** A run that came to its verdict. */
export function summarize({ evidence, terms, kills }: Findings, verdict: Verdict, seconds: number): Summary {
  return {
    demo: DEMO,
    ok: verdict.holds,
    failed: verdict.checks.filter(({ isFine }) => !isFine).map(({ name }) => name),
    events: evidence.events,
    read: evidence.applied,
    lost: evidence.lost,
    appliedTwice: evidence.appliedTwice,
    wrongOrders: evidence.wrongOrders,
    kills: kills.length,
    tokens: terms.map(({ token }) => String(token)),
    takeovers: verdict.takeovers.map((takeover) => ({
      from: takeover.kill.worker,
      to: takeover.successor?.worker ?? null,
      inTransaction: takeover.kill.isInTransaction,
      electedMs: toMs(electedAfterSeconds(takeover)),
      committedMs: toMs(committedAfterSeconds(takeover)),
    })),
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
