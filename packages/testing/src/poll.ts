import { setTimeout as wait } from 'node:timers/promises'
import { errorMessage } from '@es/coordination-core'
import { within } from './time-limit.js'

/** How {@link until} waits. */
export interface UntilOptions {
  /** What is waited for, as the end of the sentence "Waited 2 s for ...". */
  readonly what: string
  /**
   * The deadline, in seconds. Long ones cost nothing when the condition comes true early.
   * @default 5
   */
  readonly withinSeconds?: number
  /**
   * Pause between two looks, in seconds.
   * @default 0.01
   */
  readonly everySeconds?: number
}

/** A condition that has not come true is anything falsy. */
export type Truthy<T> = Exclude<T, false | null | undefined | 0 | 0n | ''>

/**
 * Looks at `condition` until it is truthy, and resolves with what it was. For the outcomes of real backends: a deadline that is generous
 * and a pause that is short, instead of a sleep that hopes. It looks at the start and at the deadline at least, and never twice at once.
 *
 * A condition that throws or rejects has not come true yet; its last error goes into the failure. One that never settles
 * counts against the deadline too.
 *
 * @throws Error with what was waited for, how often it was looked at, and the last value or error (as `cause`).
 */
export async function until<T>(
  condition: () => T | Promise<T>,
  { what, withinSeconds = 5, everySeconds = 0.01 }: UntilOptions,
): Promise<Truthy<T>> {
  const deadline = performance.now() + withinSeconds * 1000
  let last = 'nothing was seen'
  let cause: unknown
  let looks = 0
  for (;;) {
    const isLastLook = performance.now() >= deadline
    looks++
    try {
      const patience = Math.max((deadline - performance.now()) / 1000, everySeconds)
      const value = await within(patience, 'The condition', Promise.resolve(condition()))
      if (value) return value as Truthy<T>
      last = `it was ${String(value)}`
      cause = undefined
    } catch (error) {
      last = `it failed: ${errorMessage(error)}`
      cause = error
    }
    if (isLastLook) break
    await wait(Math.max(Math.min(deadline - performance.now(), everySeconds * 1000), 1))
  }
  throw new Error(`Waited ${withinSeconds} s for ${what}, but ${last} (looked ${looks} times)`, cause === undefined ? undefined : { cause })
}
