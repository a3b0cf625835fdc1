import type { WorkerReport } from './worker-messages.js'

/** Times are those of `hostSeconds`. */
export interface Span {
  readonly from: number
  readonly until: number
}

/** One run of a subscription by one process, from its first to its last line; `until` is the last instant at which it was entitled to run. */
export interface RunSpan extends Span {
  readonly worker: string
  readonly pid: number
  readonly subscription: string
  readonly token: bigint
  /** How it ended; `null` while it goes on. */
  readonly end: 'revoked' | 'stopping' | 'lost' | 'failed' | 'killed' | null
  readonly batches: number
  readonly events: number
}

/** One unbroken spell of leadership. */
export interface TermSpan extends Span {
  readonly worker: string
  readonly pid: number
  readonly token: bigint
}

/** What the processes did, put together from their own reports. Those of one process arrive in order. */
export class History {
  readonly #runs = new Map<string, RunSpan>()
  readonly #terms = new Map<string, TermSpan>()
  /** The latest sample in which each run held its claim. */
  readonly #heldUntil = new Map<string, number>()

  record(worker: string, pid: number, report: WorkerReport): void {
    switch (report.type) {
      case 'run_started': {
        const { subscription, at } = report
        const token = BigInt(report.token)
        const run: RunSpan = { ...{ worker, pid, subscription, token }, from: at, until: at, end: null, batches: 0, events: 0 }
        const key = keyOf(pid, report)
        const before = this.#runs.get(key)
        // The same claim is run once more after a failure.
        if (before) this.#runs.set(`${key}/${before.from}`, before)
        this.#runs.set(key, run)
        break
      }
      case 'run_ended':
        this.#update(keyOf(pid, report), (run) => ({ ...run, end: report.cause, until: this.#endOf(run, report) }))
        break
      case 'committed':
        this.#update(keyOf(pid, report), (run) => ({ ...run, batches: run.batches + 1, events: run.events + report.events }))
        break
      case 'sample':
        for (const [subscription, token] of Object.entries(report.holds)) this.#hold(keyOf(pid, { subscription, token }), report.at)
        if (report.leads !== null) this.#lead(worker, pid, report.leads, report.at)
        break
      case 'elected':
        this.#lead(worker, pid, report.token, report.at)
        break
    }
  }

  /** Whatever the process was running ended here, without a word. */
  recordKill(pid: number, at: number): void {
    for (const [key, run] of this.#runs) {
      if (run.pid === pid && run.end === null) this.#runs.set(key, { ...run, end: 'killed', until: at })
    }
  }

  /** In the order in which they began. */
  get runs(): readonly RunSpan[] {
    return [...this.#runs.values()].sort((a, b) => a.from - b.from)
  }

  /** Those that go on, as far as is known, in the order in which they were reported. */
  get openRuns(): readonly RunSpan[] {
    return [...this.#runs.values()].filter(({ end }) => end === null)
  }

  /** In the order of election. */
  get terms(): readonly TermSpan[] {
    return [...this.#terms.values()].sort((a, b) => a.from - b.from)
  }

  /**
   * A run whose claim was lost was entitled until it last found the claim held, whenever it noticed: a process that was stopped did nothing
   * from then on until it woke, and what it did after that is in the ledger, under its token.
   */
  #endOf(run: RunSpan, report: WorkerReport & { readonly type: 'run_ended' }): number {
    if (report.cause !== 'lost') return report.at
    return Math.min(report.at, Math.max(run.from, this.#heldUntil.get(keyOf(run.pid, report)) ?? run.from))
  }

  #hold(key: string, at: number): void {
    this.#heldUntil.set(key, at)
    this.#update(key, (run) => (run.end === null ? { ...run, until: at } : run))
  }

  #lead(worker: string, pid: number, token: string, at: number): void {
    const key = `${pid}/${token}`
    const before = this.#terms.get(key) ?? { worker, pid, token: BigInt(token), from: at, until: at }
    this.#terms.set(key, { ...before, until: at })
  }

  #update(key: string, change: (run: RunSpan) => RunSpan): void {
    const run = this.#runs.get(key)
    if (run) this.#runs.set(key, change(run))
  }
}

function keyOf(pid: number, { subscription, token }: { readonly subscription: string; readonly token: string }): string {
  return `${pid}/${subscription}/${token}`
}

/** Pairs of spans with an instant in common. */
export function overlaps<S extends Span>(spans: readonly S[]): readonly (readonly [S, S])[] {
  return spans.flatMap((first, index) =>
    spans
      .slice(index + 1)
      .filter((second) => first.from <= second.until && second.from <= first.until)
      .map((second) => [first, second] as const),
  )
}

/** The times between the first and the last of `spans` at which there was none. */
export function gapsBetween(spans: readonly Span[]): readonly Span[] {
  const gaps: Span[] = []
  let end: number | null = null
  for (const { from, until } of [...spans].sort((a, b) => a.from - b.from)) {
    if (end !== null && from > end) gaps.push({ from: end, until: from })
    end = Math.max(end ?? until, until)
  }
  return gaps
}
