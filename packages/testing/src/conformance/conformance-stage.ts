import assert from 'node:assert/strict'
import type { LogFields } from '@es/coordination-core'
import { type Truthy, until } from '../poll.js'
import { within } from '../time-limit.js'
import type { Closable } from './conformance-world.js'

/** What a {@link ConformanceStage} is made of. */
export interface StageParts<Setup extends Closable, Powers> {
  readonly setup: Setup
  readonly powers: Powers
  readonly patienceSeconds: number
  /** Grows while the case runs. */
  readonly log: readonly LogFields[]
}

/** What a case works with: something opened for it alone, and bounded ways to wait for what that does. */
export class ConformanceStage<Setup extends Closable, Powers> {
  readonly patienceSeconds: number
  /** Fields of the warnings and errors that were logged. */
  readonly log: readonly LogFields[]
  protected readonly setup: Setup
  readonly #powers: Powers
  readonly #ending = new AbortController()
  readonly #remedies: (() => Promise<void>)[] = []

  constructor({ setup, powers, patienceSeconds, log }: StageParts<Setup, Powers>) {
    this.setup = setup
    this.#powers = powers
    this.patienceSeconds = patienceSeconds
    this.log = log
  }

  /** Fails when `work` takes longer than the patience, plus `extraSeconds`. */
  soon<T>(what: string, work: Promise<T>, extraSeconds = 0): Promise<T> {
    return within(this.patienceSeconds + extraSeconds, what, work)
  }

  /** Waits for an effect that follows by itself. */
  eventually<T>(what: string, condition: () => T | Promise<T>, extraSeconds = 0): Promise<Truthy<T>> {
    return until(condition, { what, withinSeconds: this.patienceSeconds + extraSeconds })
  }

  /** Aborts what still waits, mends what is still broken and closes what was opened. */
  async close(): Promise<void> {
    this.#ending.abort(new Error('the case has ended'))
    for (const remedy of this.#remedies.splice(0)) await remedy()
    await this.setup.close()
  }

  /** Aborts when the case ends. */
  protected get ending(): AbortSignal {
    return this.#ending.signal
  }

  /** A power that the world has declared: the case says that it needs it. */
  protected power<Name extends keyof Powers & string>(name: Name): NonNullable<Powers[Name]> {
    const power = this.#powers[name]
    assert.ok(power !== undefined && power !== null, `the case uses the power ${name}, but does not say that it needs it`)
    return power
  }

  /** Looks every millisecond until the case ends. */
  protected watch(look: () => void): void {
    const watch = setInterval(look, 1)
    this.#ending.signal.addEventListener('abort', () => clearInterval(watch), { once: true })
  }

  /** Waits for `breaking`; what it answers is how to mend that, which is done when the case ends if the case has not done it. */
  protected async breakUntilMended(what: string, breaking: Promise<() => Promise<void>>): Promise<() => Promise<void>> {
    const remedy = await this.soon(what, breaking)
    this.#remedies.push(remedy)
    return async () => {
      const index = this.#remedies.indexOf(remedy)
      if (index === -1) return
      this.#remedies.splice(index, 1)
      await remedy()
    }
  }
}
