import type { Lineage } from './lineage.js'

/** What is left of removed peers: their lineage, so that their old messages are recognised for a while. Bounded in time and number. */
export class Tombstones {
  readonly #retentionSeconds: number
  readonly #capacity: number
  /** In order of expiry. */
  readonly #entries = new Map<string, { readonly lineage: Lineage; readonly expiresAt: number }>()

  constructor(retentionSeconds: number, capacity: number) {
    this.#retentionSeconds = retentionSeconds
    this.#capacity = capacity
  }

  get(instanceId: string, now: number): Lineage | null {
    const entry = this.#entries.get(instanceId)
    return entry && entry.expiresAt > now ? entry.lineage : null
  }

  put(instanceId: string, lineage: Lineage, now: number): void {
    this.#entries.delete(instanceId)
    if (this.#entries.size >= this.#capacity) this.#dropOlderHalf()
    this.#entries.set(instanceId, { lineage, expiresAt: now + this.#retentionSeconds })
  }

  delete(instanceId: string): void {
    this.#entries.delete(instanceId)
  }

  /** Lets go of those whose time is over. */
  expire(now: number): void {
    for (const [instanceId, { expiresAt }] of this.#entries) {
      if (expiresAt > now) break
      this.#entries.delete(instanceId)
    }
  }

  /** Many at once: a `Map` walks over everything deleted to find its first entry, which is dear if done for each. */
  #dropOlderHalf(): void {
    let left = Math.ceil(this.#capacity / 2)
    for (const instanceId of this.#entries.keys()) {
      if (left-- === 0) break
      this.#entries.delete(instanceId)
    }
  }
}
