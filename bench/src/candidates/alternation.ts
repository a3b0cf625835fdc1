import { Observer } from '../observer.js'
import { CandidateProgram } from '../processes/candidate-program.js'
import type { CandidateKind } from './candidates.js'

const ELECTION = 'measured'

/** Two processes that hand leadership to each other. */
export class Alternation implements AsyncDisposable {
  readonly #observer: Observer
  #leader: CandidateProgram
  #heir: CandidateProgram

  private constructor(kind: CandidateKind, url: string) {
    this.#observer = new Observer(url)
    this.#leader = new CandidateProgram(kind, url)
    this.#heir = new CandidateProgram(kind, url)
  }

  static async between(kind: CandidateKind, url: string): Promise<Alternation> {
    const alternation = new Alternation(kind, url)
    await alternation.#leader.lead(ELECTION)
    return alternation
  }

  /** Seconds from the call of `release` until the other leads. */
  async handover(): Promise<number> {
    const succeeded = this.#heir.lead(ELECTION)
    await this.#observer.untilSomebodyWaits()
    const releasedAt = await this.#leader.release(ELECTION)
    const seconds = (await succeeded) - releasedAt
    ;[this.#leader, this.#heir] = [this.#heir, this.#leader]
    return seconds
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#leader[Symbol.asyncDispose](), this.#heir[Symbol.asyncDispose]()])
    await this.#observer[Symbol.asyncDispose]()
  }
}
