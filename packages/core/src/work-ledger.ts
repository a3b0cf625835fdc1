import { isSameList } from './same-list.js'

/** Someone who lost work. */
export interface Loser {
  /** What it lost and nobody has taken yet; `null` when there is nothing. Only the ledger changes it. */
  unclaimed: Set<string> | null
}

/**
 * Who lists which subscription, and which lost ones nobody lists yet.
 *
 * - W1. A loss is settled as soon as anyone lists the subscription, and stays settled even if that lister goes.
 * - W2. Work costs what changes: a list that is the same as before costs one comparison.
 */
export class WorkLedger {
  readonly #listers = new Map<string, number>()
  readonly #losers = new Map<string, Set<Loser>>()
  readonly #onSettled: (loser: Loser) => void

  /** @param onSettled called when nothing that `loser` lost is unclaimed any more, because others took it. */
  constructor(onSettled: (loser: Loser) => void) {
    this.#onSettled = onSettled
  }

  /** Someone who listed `before` lists `after` now. */
  relist(before: readonly string[], after: readonly string[]): void {
    if (isSameList(before, after)) return
    for (const name of after) {
      this.#listers.set(name, (this.#listers.get(name) ?? 0) + 1)
      if (this.#losers.size > 0) this.#settle(name)
    }
    for (const name of before) {
      const count = this.#listers.get(name) ?? 0
      if (count > 1) this.#listers.set(name, count - 1)
      else this.#listers.delete(name)
    }
  }

  isListed(name: string): boolean {
    return this.#listers.has(name)
  }

  /** `loser` lost `names`; those that someone lists are settled at once. Adds to what it lost before. */
  lose(loser: Loser, names: readonly string[]): void {
    for (const name of names) {
      if (this.#listers.has(name)) continue
      loser.unclaimed ??= new Set()
      loser.unclaimed.add(name)
      const losers = this.#losers.get(name)
      if (losers) losers.add(loser)
      else this.#losers.set(name, new Set([loser]))
    }
  }

  /** `loser` is not missed any more, or not for `name` any more. */
  withdraw(loser: Loser, name?: string): void {
    for (const lost of name === undefined ? (loser.unclaimed ?? []) : [name]) {
      const losers = this.#losers.get(lost)
      losers?.delete(loser)
      if (losers?.size === 0) this.#losers.delete(lost)
      if (name !== undefined) loser.unclaimed?.delete(name)
    }
    if (name === undefined || loser.unclaimed?.size === 0) loser.unclaimed = null
  }

  /** Every unclaimed subscription once, with the one who lost it last. */
  *unclaimed(): Generator<[name: string, loser: Loser]> {
    for (const [name, losers] of this.#losers) {
      let last: Loser | undefined
      for (const loser of losers) last = loser
      if (last) yield [name, last]
    }
  }

  #settle(name: string): void {
    const losers = this.#losers.get(name)
    if (!losers) return
    this.#losers.delete(name)
    for (const loser of losers) {
      loser.unclaimed?.delete(name)
      if (loser.unclaimed?.size !== 0) continue
      loser.unclaimed = null
      this.#onSettled(loser)
    }
  }
}
