import { CallbackList } from './callback-list.js'
import type { LeaderChangeCallback } from './leader-elector.js'
import { consoleLogger, type Logger, safeLogger } from './logger.js'

/** What a {@link Leadership} is made of. */
export interface LeadershipOptions {
  /** Identity of the elector, for log lines. */
  readonly identity: string
  /** @default consoleLogger */
  readonly logger?: Logger
}

/**
 * The part that every elector needs and few get right: whether it leads, and who is told.
 *
 * - I1. Edge triggered: only a change is told, each change exactly once.
 * - I2. The state changes at once, before anybody is told.
 * - I3. Changes are told in the order in which they happened, to the callbacks registered at that moment, one callback at a time.
 * - I4. A failing callback is logged and changes nothing; a removed one is not called.
 * - I5. {@link Leadership.change} called while callbacks are running does not wait for them, so a callback may await anything
 *   that ends in another change (`release()`, `tryAcquire()`) without deadlock. The change is told after the ones before it.
 *
 * @example
 * ```ts
 * class MyElector implements LeaderElector {
 *   readonly #leadership = new Leadership({ identity: this.identity })
 *   get isLeader() { return this.#leadership.isLeader }
 *   async release() { await unlock(); await this.#leadership.change(false) }
 * }
 * ```
 */
export class Leadership {
  readonly #identity: string
  readonly #callbacks: CallbackList<[isLeader: boolean]>
  readonly #untold: (() => Promise<void>)[] = []
  #isLeader = false
  #isTelling = false

  constructor({ identity, logger = consoleLogger }: LeadershipOptions) {
    this.#identity = identity
    this.#callbacks = new CallbackList('leader-change', safeLogger(logger))
  }

  /** The state as of the last {@link change}. */
  get isLeader(): boolean {
    return this.#isLeader
  }

  /** See `LeaderElector.onLeaderChange`. */
  onLeaderChange(callback: LeaderChangeCallback): void {
    this.#callbacks.add(callback)
  }

  /** See `LeaderElector.removeLeaderChangeCallback`. */
  removeLeaderChangeCallback(callback: LeaderChangeCallback): boolean {
    return this.#callbacks.remove(callback)
  }

  /**
   * Sets the state at once and tells the callbacks if it differs. Resolves when they have been told; immediately when nothing changed
   * or when callbacks are running (I5). The first callback is called before this returns if none is running. Never rejects.
   */
  async change(isLeader: boolean): Promise<void> {
    if (isLeader === this.#isLeader) return
    this.#isLeader = isLeader
    const tell = this.#callbacks.prepare(isLeader)
    const told = new Promise<void>((resolve) => {
      this.#untold.push(async () => {
        await tell({ identity: this.#identity, isLeader })
        resolve()
      })
    })
    if (this.#isTelling) return
    void this.#tellAll()
    await told
  }

  async #tellAll(): Promise<void> {
    this.#isTelling = true
    try {
      for (let next = this.#untold.shift(); next; next = this.#untold.shift()) await next()
    } finally {
      this.#isTelling = false
    }
  }
}
