import type { Logger } from './logger.js'

/** A listener; what it returns is awaited, so a plain function serves as well as an async one. */
export type Callback<Arguments extends readonly unknown[]> = (...values: Arguments) => Promise<void> | void

interface Registration<Arguments extends readonly unknown[]> {
  readonly callback: Callback<Arguments>
  removed: boolean
}

/**
 * Callbacks in registration order, called one at a time. One that throws or rejects is logged and the next one runs; one
 * that was removed is not called any more, not even by a call under way; one that was added is not called by a call under way.
 */
export class CallbackList<Arguments extends readonly unknown[]> {
  readonly #what: string
  readonly #logger: Logger
  #registrations: readonly Registration<Arguments>[] = []

  /**
   * @param what names the callbacks in the log line about a failing one.
   * @param logger must not throw, see `safeLogger`.
   */
  constructor(what: string, logger: Logger) {
    this.#what = what
    this.#logger = logger
  }

  /** The same function registered twice is called twice. */
  add(callback: Callback<Arguments>): void {
    this.#registrations = [...this.#registrations, { callback, removed: false }]
  }

  /** Removes the earliest registration of `callback`; `false` when there is none. */
  remove(callback: Callback<Arguments>): boolean {
    const found = this.#registrations.find((registration) => registration.callback === callback)
    if (!found) return false
    found.removed = true
    this.#registrations = this.#registrations.filter((registration) => registration !== found)
    return true
  }

  /** Whether nobody is registered. */
  get isEmpty(): boolean {
    return this.#registrations.length === 0
  }

  /**
   * Fixes who is to be told, as of now; the returned function tells them.
   *
   * @param context goes into the log line when a callback fails.
   */
  prepare(...values: Arguments): (context: Readonly<Record<string, unknown>>) => Promise<void> {
    const recipients = this.#registrations
    return async (context) => {
      for (const registration of recipients) {
        if (registration.removed) continue
        try {
          await registration.callback(...values)
        } catch (error) {
          this.#logger.error({ ...context, error }, `A ${this.#what} callback failed; the other callbacks still run`)
        }
      }
    }
  }
}
