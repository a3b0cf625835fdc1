/** Where requests of electors arrive, in order and one turn of the event loop later; it can hang, cut one off, and take leadership away. */
export class FakeBackend {
  readonly leaseSeconds: number
  readonly #cutOff = new Set<object>()
  readonly #watchers = new Set<() => void>()
  #requests: { readonly from: object; readonly arrive: () => void }[] = []
  #isHanging = false
  #holder: { readonly owner: object; readonly identity: string; heardAt: number } | null = null
  #lastTerm = 0n
  #changes = 0

  constructor({ leaseSeconds = 3600 }: { readonly leaseSeconds?: number } = {}) {
    this.leaseSeconds = leaseSeconds
  }

  /** Sends a request; the returned function takes it back if it has not arrived. */
  send(from: object, arrive: () => void): () => void {
    const request = { from, arrive }
    this.#requests.push(request)
    setImmediate(() => this.#deliver())
    return () => {
      this.#requests = this.#requests.filter((other) => other !== request)
    }
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

  hang(): () => Promise<void> {
    this.#isHanging = true
    return async () => {
      this.#isHanging = false
      this.#deliver()
    }
  }

  cutOff(elector: object): () => Promise<void> {
    this.#cutOff.add(elector)
    return async () => {
      this.#cutOff.delete(elector)
      this.#deliver()
    }
  }

  #deliver(): void {
    if (this.#isHanging) return
    const arriving = this.#requests.filter(({ from }) => !this.#cutOff.has(from))
    this.#requests = this.#requests.filter(({ from }) => this.#cutOff.has(from))
    for (const { arrive } of arriving) arrive()
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
