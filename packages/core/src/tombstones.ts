import type { Lineage } from './lineage.js'

/** What is left of removed peers: their lineage, so that their old messages are recognised for a while. Bounded in time, number and size. */
export class Tombstones {
  readonly #retentionSeconds: number
  readonly #capacity: number
  readonly #maxTextLength: number
  /** In order of expiry. */
  readonly #entries = new Map<string, { readonly lineage: Lineage; readonly expiresAt: number; readonly textLength: number }>()
  #textLength = 0

  /** @param maxTextLength most UTF-16 units of all names together. */
  constructor(retentionSeconds: number, capacity: number, maxTextLength = Number.POSITIVE_INFINITY) {
    this.#retentionSeconds = retentionSeconds
    this.#capacity = capacity
    this.#maxTextLength = maxTextLength
  }

  get size(): number {
    return this.#entries.size
  }

  get(instanceId: string, now: number): Lineage | null {
    const entry = this.#entries.get(instanceId)
    return entry && entry.expiresAt > now ? entry.lineage : null
  }

  put(instanceId: string, lineage: Lineage, now: number): void {
    this.delete(instanceId)
    const textLength = instanceId.length + lineage.textLength
    if (this.#entries.size >= this.#capacity || this.#textLength + textLength > this.#maxTextLength) this.#dropOlderHalf()
    this.#textLength += textLength
    this.#entries.set(instanceId, { lineage, expiresAt: now + this.#retentionSeconds, textLength })
  }

  delete(instanceId: string): void {
    this.#textLength -= this.#entries.get(instanceId)?.textLength ?? 0
    this.#entries.delete(instanceId)
  }

  /** Lets go of those whose time is over. */
  expire(now: number): void {
    for (const [instanceId, { expiresAt }] of this.#entries) {
      if (expiresAt > now) break
      this.delete(instanceId)
    }
  }

  /** Many at once: a `Map` walks over everything deleted to find its first entry, which is dear if done for each. */
  #dropOlderHalf(): void {
    const half = { entries: this.#entries.size / 2, textLength: this.#textLength / 2 }
    for (const instanceId of this.#entries.keys()) {
      if (this.#entries.size <= half.entries && this.#textLength <= half.textLength) break
      this.delete(instanceId)
    }
  }
}
