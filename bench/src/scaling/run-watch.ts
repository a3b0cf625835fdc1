/** Watches which instance of a simulated cluster runs what, and when that last changed. */
export class RunWatch {
  /** Time of the last change. */
  changedAt = 0
  readonly #now: () => number
  readonly #subscriptions: number
  readonly #ownerOf = new Map<string, string>()
  readonly #present = new Set<string>()

  constructor(subscriptions: number, now: () => number) {
    this.#subscriptions = subscriptions
    this.#now = now
  }

  get present(): ReadonlySet<string> {
    return this.#present
  }

  joined(instanceId: string): void {
    this.#present.add(instanceId)
  }

  gone(instanceId: string): void {
    this.#present.delete(instanceId)
  }

  started(instanceId: string, subscription: string): void {
    this.#ownerOf.set(subscription, instanceId)
    this.changedAt = this.#now()
  }

  ended(instanceId: string, subscription: string): void {
    if (this.#ownerOf.get(subscription) === instanceId) this.#ownerOf.delete(subscription)
    this.changedAt = this.#now()
  }

  /** Somebody other than `except` that runs something; `null` for nobody. */
  ownerOtherThan(except: readonly (string | undefined)[]): string | null {
    for (const owner of this.#ownerOf.values()) if (!except.includes(owner) && this.#present.has(owner)) return owner
    return null
  }

  /** Whether every subscription runs in an instance that is there, as evenly as can be. */
  get isStable(): boolean {
    const sizes = new Map([...this.#present].map((instanceId) => [instanceId, 0]))
    for (const owner of this.#ownerOf.values()) {
      const size = sizes.get(owner)
      if (size === undefined) return false
      sizes.set(owner, size + 1)
    }
    const counts = [...sizes.values()]
    // Not spread into arguments: a large cluster has too many.
    const least = counts.reduce((one, other) => Math.min(one, other), Number.POSITIVE_INFINITY)
    const most = counts.reduce((one, other) => Math.max(one, other), 0)
    return this.#ownerOf.size === this.#subscriptions && most - least <= 1
  }
}
