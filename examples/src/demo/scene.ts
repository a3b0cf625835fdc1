/** The faults that can be played, in their order. */
export const SCENES = ['scale', 'kill', 'pause', 'rolling', 'database'] as const
export type SceneName = (typeof SCENES)[number]

/** What is going on. One that follows on a fault, such as the return of a worker that was killed, is a phase of its own. */
export type PhaseKind = 'start' | 'scale' | 'kill' | 'comeback' | 'pause' | 'wake' | 'rolling' | 'database' | 'finish'

/** A stretch of the demo; the next one begins where it ends. Times are those of `hostSeconds`. */
export interface Phase {
  readonly kind: PhaseKind
  readonly title: string
  readonly from: number
  readonly until: number
  /** Longest time for which a subscription may have no owner, when that begins in this phase. */
  readonly gapLimitSeconds: number
  /** Fewest starts of runs with which this phase could have done. */
  readonly fewestStarts: number
}

/** Something that happened to a process, or to the database. */
export interface Mark {
  readonly kind: 'started' | 'killed' | 'paused' | 'woken' | 'terminated' | 'ended' | 'database'
  readonly at: number
  /** `null` when it concerns all. */
  readonly worker: string | null
  /** End of what lasts. */
  readonly until?: number
}

/** How many subscriptions of `total` each of `workers` runs in the end, at least. */
export function fairShare(total: number, workers: number): number {
  return Math.floor(total / workers)
}

/** Fewest moves when `joining` workers come to those that share `total` subscriptions already. */
export function fewestMovesOnJoin(total: number, { before, joining }: { readonly before: number; readonly joining: number }): number {
  return joining * fairShare(total, before + joining)
}
