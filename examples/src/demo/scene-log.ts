import { hostSeconds } from './host-clock.js'
import type { Mark, Phase, PhaseKind } from './scene.js'

/** What is known of a phase when it begins. */
export type PhaseStart = Pick<Phase, 'title' | 'gapLimitSeconds' | 'fewestStarts'>

/** Takes down what the demo did, and when. */
export class SceneLog {
  readonly #phases: Phase[] = []
  readonly #marks: Mark[] = []

  /** Begins a phase, and ends the one before. `at`: the fault itself, when it has happened already. */
  begin(kind: PhaseKind, start: PhaseStart, at = hostSeconds()): void {
    this.end(at)
    this.#phases.push({ kind, ...start, from: at, until: Number.POSITIVE_INFINITY })
  }

  /** What is known of the present phase only when it is over. */
  amend(change: Partial<PhaseStart>): void {
    const phase = this.#phases.at(-1)
    if (phase) this.#phases[this.#phases.length - 1] = { ...phase, ...change }
  }

  end(at = hostSeconds()): void {
    const phase = this.#phases.at(-1)
    if (phase) this.#phases[this.#phases.length - 1] = { ...phase, until: Math.min(phase.until, at) }
  }

  mark(mark: Mark): void {
    this.#marks.push(mark)
  }

  get phases(): readonly Phase[] {
    return this.#phases
  }

  get marks(): readonly Mark[] {
    return this.#marks
  }
}
