import type {
  CampaigningLeaderElector,
  FencedLeaderElector,
  LeaderChangeCallback,
  Leadership,
  TryAcquireOptions,
} from '@es/coordination-core'
import type { FakeBackend } from './fake-backend.fixture.js'

const RELEASE_TIMEOUT_SECONDS = 0.3

/** What an elector needs of `Leadership`, so that a liar can bring its own. */
export type LeadershipLike = Pick<Leadership, 'isLeader' | 'change' | 'onLeaderChange' | 'removeLeaderChangeCallback'>

/**
 * The smallest elector with a remote backend that keeps the whole contract: the suite must pass it, and the liars are made of it.
 */
export class HonestElector implements FencedLeaderElector, CampaigningLeaderElector {
  readonly identity: string
  protected readonly backend: FakeBackend
  protected readonly leadership: LeadershipLike
  protected term: bigint | null = null
  protected trustedUntil = Number.POSITIVE_INFINITY
  // Counts the losses, so that an answer to a question from before a loss is not taken for a new term.
  #losses = 0
  #timers: NodeJS.Timeout[] = []

  constructor(identity: string, backend: FakeBackend, leadership: LeadershipLike) {
    this.identity = identity
    this.backend = backend
    this.leadership = leadership
  }

  get isLeader(): boolean {
    return this.leadership.isLeader && performance.now() < this.trustedUntil
  }

  get currentLeader(): string | null {
    return this.isLeader ? this.identity : this.backend.currentLeader === this.identity ? null : this.backend.currentLeader
  }

  get fencingToken(): bigint | null {
    return this.isLeader ? this.term : null
  }

  async tryAcquire({ timeoutSeconds = 10, signal }: TryAcquireOptions = {}): Promise<boolean> {
    signal?.throwIfAborted()
    if (this.isLeader) return true
    await this.lose()
    const losses = this.#losses
    const askedAt = performance.now()
    const term = await this.ask(() => this.backend.take(this), timeoutSeconds, signal)
    if (term !== null && losses === this.#losses) await this.lead(term, askedAt)
    return this.isLeader
  }

  async release(): Promise<void> {
    if (!this.leadership.isLeader) return
    // Sent before the callbacks run, because one of them may ask for leadership again.
    const freed = this.ask(() => this.backend.free(this), RELEASE_TIMEOUT_SECONDS)
    freed.catch(() => {})
    await this.lose()
    await freed
  }

  async renew(): Promise<boolean> {
    if (!this.isLeader) return false
    const askedAt = performance.now()
    const isStillLeader = await this.ask(() => this.backend.touch(this), RELEASE_TIMEOUT_SECONDS).catch(() => false)
    if (isStillLeader) this.trustFrom(askedAt)
    else await this.lose()
    return this.isLeader
  }

  async campaign({ signal }: { readonly signal?: AbortSignal } = {}): Promise<void> {
    for (;;) {
      const seen = this.backend.changes
      if (await this.tryAcquire(signal ? { signal } : {})) return
      await this.backend.changeAfter(seen, signal)
    }
  }

  onLeaderChange(callback: LeaderChangeCallback): void {
    this.leadership.onLeaderChange(callback)
  }

  removeLeaderChangeCallback(callback: LeaderChangeCallback): boolean {
    return this.leadership.removeLeaderChangeCallback(callback)
  }

  /** Called by the world when the backend took leadership away. */
  onTakenAway(): void {
    this.backend.send(this, () => void this.lose())
  }

  close(): void {
    for (const timer of this.#timers.splice(0)) clearTimeout(timer)
  }

  protected async lead(term: bigint, askedAt: number): Promise<void> {
    this.term = term
    this.trustFrom(askedAt)
    await this.leadership.change(true)
  }

  protected async lose(): Promise<void> {
    this.#losses++
    this.close()
    await this.leadership.change(false)
  }

  protected trustFrom(askedAt: number): void {
    const leaseMilliseconds = this.backend.leaseSeconds * 1000
    this.trustedUntil = askedAt + leaseMilliseconds * 0.8
    this.close()
    this.#timers = [
      setTimeout(() => void this.renew(), leaseMilliseconds / 4),
      setTimeout(() => void this.onUntrusted(), this.trustedUntil - performance.now() + 1),
    ]
  }

  protected async onUntrusted(): Promise<void> {
    await this.lose()
  }

  protected async ask<T>(request: () => T, timeoutSeconds: number, signal?: AbortSignal): Promise<T> {
    return await this.backend.ask(this, request, timeoutSeconds, signal)
  }
}
