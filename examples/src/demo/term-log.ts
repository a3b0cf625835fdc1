import type { WorkerReport } from './worker-messages.js'

/** One unbroken spell of leadership, as its worker reported it. Times are those of `hostSeconds`. */
export interface Term {
  readonly worker: string
  readonly pid: number
  readonly token: bigint
  readonly electedAt: number
  /** The last instant at which the worker is known to have led. */
  readonly lastLedAt: number
  readonly firstCommitAt: number | null
  readonly batches: number
  readonly events: number
}

/** A planned kill of a leader. */
export interface Kill {
  readonly worker: string
  readonly pid: number
  /** Token of the term that the kill ended. */
  readonly token: bigint
  readonly at: number
  /** The checkpoint as last reported. */
  readonly position: number
  /** Whether the last that was heard of the leader was that it had a transaction open. */
  readonly isInTransaction: boolean
}

/** What followed a kill. */
export interface Takeover {
  readonly kill: Kill
  /** The next term; `null` when nobody was elected. */
  readonly successor: Term | null
}

/** The terms of a run, put together from the reports of all workers. Those of one worker arrive in order. */
export class TermLog {
  readonly #terms = new Map<string, Term>()

  record(worker: string, pid: number, report: WorkerReport): void {
    if (!('token' in report)) return
    const key = `${pid}/${report.token}`
    const before = this.#terms.get(key) ?? begin(worker, pid, report)
    const isCommit = report.type === 'committed'
    this.#terms.set(key, {
      ...before,
      // Nothing else says that the worker leads at that instant: a commit may end after the term that it was begun in.
      lastLedAt: report.type === 'leading' ? Math.max(before.lastLedAt, report.at) : before.lastLedAt,
      firstCommitAt: before.firstCommitAt ?? (isCommit ? report.at : null),
      batches: before.batches + (isCommit ? 1 : 0),
      events: before.events + (isCommit ? report.events : 0),
    })
  }

  /** In the order of election. */
  get terms(): readonly Term[] {
    return [...this.#terms.values()].sort((a, b) => a.electedAt - b.electedAt)
  }
}

function begin(worker: string, pid: number, report: WorkerReport & { readonly token: string }): Term {
  return {
    worker,
    pid,
    token: BigInt(report.token),
    electedAt: report.at,
    lastLedAt: report.at,
    firstCommitAt: null,
    batches: 0,
    events: 0,
  }
}

/** Pairs of terms that were both led at one instant. */
export function overlaps(terms: readonly Term[]): readonly (readonly [Term, Term])[] {
  return terms.flatMap((first, index) =>
    terms
      .slice(index + 1)
      .filter((second) => first.electedAt <= second.lastLedAt && second.electedAt <= first.lastLedAt)
      .map((second) => [first, second] as const),
  )
}

/** What followed a kill: the first election after it. */
export function takeoverAfter(kill: Kill, terms: readonly Term[]): Takeover {
  return { kill, successor: terms.find((term) => term.electedAt > kill.at && term.pid !== kill.pid) ?? null }
}
