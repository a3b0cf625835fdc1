import type { Clock } from '@es/coordination-core'
import type { Problem } from './worker-status.js'

/** The problems there are now, each with the moment at which it began. */
export class Problems {
  readonly #clock: Clock
  #since = new Map<string, Date>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Takes the problems of this moment; one that was there before keeps its beginning. */
  update(present: readonly Omit<Problem, 'since'>[]): readonly Problem[] {
    const now = this.#clock.now()
    const since = new Map(present.map(({ code }) => [code, this.#since.get(code) ?? now]))
    this.#since = since
    return present.map((problem) => ({ ...problem, since: since.get(problem.code) ?? now }))
  }
}
