import { FakeChannel } from '../../conformance/fake-channel.fixture.js'

/** Where requests of electors arrive; it can also take leadership away. */
export class FakeBackend extends FakeChannel {
  readonly leaseSeconds: number
  readonly #watchers = new Set<() => void>()
  #holder: { readonly owner: object; readonly identity: string; heardAt: number } | null = null
  #lastTerm = 0n
  #changes = 0

  constructor({ leaseSeconds = 3600 }: { readonly leaseSeconds?: number } = {}) {
    super()
    this.leaseSeconds = leaseSeconds
  }

  /** The term of `owner`, new or present; `null` when another one leads. */
  take(owner: { readonly identity: string }): bigint | null {
    if (this.currentLeader !== null && this.#holder?.owner !== owner) return null
    if (this.currentLeader === null) this.#begin(owner)
    this.touch(owner)
    return this.#lastTerm
  }

  free(owner: object): void {
    if (this.#holder?.owner !== owner) return
    this.#holder = null
    this.#changed()
  }

  /** Whether `owner` still leads, which extends its lease. */
  touch(owner: object): boolean {
    if (this.currentLeader === null || this.#holder?.owner !== owner) return false
    this.#holder.heardAt = performance.now()
    return true
  }

  get currentLeader(): string | null {
    const isAlive = this.#holder !== null && performance.now() < this.#holder.heardAt + this.leaseSeconds * 1000
    return isAlive ? (this.#holder?.identity ?? null) : null
  }

  /** Frees leadership behind the back of whoever holds it. */
  takeAway(): void {
    if (this.#holder) this.free(this.#holder.owner)
  }

  get changes(): number {
    return this.#changes
  }

  /** Resolves as soon as `changes` differs from `seen`. */
  async changeAfter(seen: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted()
    if (this.#changes !== seen) return
    await new Promise<void>((resolve, reject) => {
      const stop = (): void => {
        this.#watchers.delete(onChange)
        signal?.removeEventListener('abort', onAbort)
      }
      const onChange = (): void => {
        stop()
        resolve()
      }
      const onAbort = (): void => {
        stop()
        reject(signal?.reason)
      }
      this.#watchers.add(onChange)
      signal?.addEventListener('abort', onAbort, { once: true })
    })
  }

  #begin(owner: { readonly identity: string }): void {
    this.#holder = { owner, identity: owner.identity, heardAt: performance.now() }
    this.#lastTerm += 1n
    this.#changed()
  }

  #changed(): void {
    this.#changes++
    for (const onChange of [...this.#watchers]) onChange()
  }
}
