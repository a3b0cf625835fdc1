import {
  backoffSeconds,
  boundedCall,
  type CampaigningLeaderElector,
  type Clock,
  ConnectionError,
  type FencedLeaderElector,
  type LeaderChangeCallback,
  Leadership,
  type Logger,
  sleep,
  type TryAcquireOptions,
} from '@es/coordination-core'
import type { LockClient } from './lock-client.js'

/** What a {@link LockElector} is made of. */
export interface LockElectorOptions {
  readonly clock: Clock
  readonly logger: Logger
  /** In [0, 1). */
  readonly random: () => number
  /** Pause between two attempts of a campaign. */
  readonly pollSeconds: number
  /** Longest pause after failures. */
  readonly longestRetrySeconds: number
}

const KEY = 'leader'

/** Leader election by one lock of a `LockServer`. Leads as long as the lease is certain: computed, so it is over on the first line after a long pause. */
export class LockElector implements FencedLeaderElector, CampaigningLeaderElector {
  readonly identity: string
  readonly #locks: LockClient
  readonly #options: LockElectorOptions
  readonly #leadership: Leadership
  #observedLeader: string | null = null

  constructor(identity: string, locks: LockClient, options: LockElectorOptions) {
    this.identity = identity
    this.#locks = locks
    this.#options = options
    this.#leadership = new Leadership({ identity, logger: options.logger })
    locks.addListener({
      lost: () => this.#lost(),
      renewed: () => void (this.#leadership.isLeader || this.#look({})),
    })
  }

  get isLeader(): boolean {
    return this.fencingToken !== null
  }

  get fencingToken(): bigint | null {
    return this.#leadership.isLeader ? this.#locks.tokenOf(KEY) : null
  }

  get currentLeader(): string | null {
    return this.isLeader ? this.identity : this.#observedLeader
  }

  async tryAcquire({ timeoutSeconds = 10, signal }: TryAcquireOptions = {}): Promise<boolean> {
    signal?.throwIfAborted()
    this.#locks.signal.throwIfAborted()
    if (this.isLeader && (await this.#stillLeads(timeoutSeconds, signal))) return this.isLeader
    if (await this.#stand({ timeoutSeconds, signal })) return this.isLeader
    await this.#look({ timeoutSeconds, signal })
    return false
  }

  async campaign({ signal }: { readonly signal?: AbortSignal } = {}): Promise<void> {
    const { clock } = this.#options
    let won: bigint | null = null
    try {
      await boundedCall({ clock, what: 'Campaigning', signals: [signal, this.#locks.signal] }, async ({ signal: over }) => {
        for (let failures = 0; !over.aborted; ) {
          try {
            if (this.isLeader || (await this.#stand({ signal: over }, (token) => (won = token)))) return
            await this.#look({ signal: over })
            failures = 0
          } catch (error) {
            if (over.aborted || !(error instanceof ConnectionError)) throw error
            failures++
          }
          await sleep(this.#pauseSeconds(failures), { clock, signal: over })
        }
      })
    } catch (error) {
      // Given up while the callbacks were being told.
      if (won !== null && won === this.fencingToken) void this.release().catch(() => {})
      throw error
    }
  }

  async release(): Promise<void> {
    if (!this.#leadership.isLeader) return
    const unlocked = this.#locks.unlock([KEY])
    const told = this.#leadership.change(false)
    await Promise.all([unlocked, told])
  }

  async renew(): Promise<boolean> {
    return this.isLeader && (await this.#locks.renew()) && this.isLeader
  }

  onLeaderChange(callback: LeaderChangeCallback): void {
    this.#leadership.onLeaderChange(callback)
  }

  removeLeaderChangeCallback(callback: LeaderChangeCallback): boolean {
    return this.#leadership.removeLeaderChangeCallback(callback)
  }

  #stillLeads(timeoutSeconds: number, signal: AbortSignal | undefined): Promise<boolean> {
    const asking = { clock: this.#options.clock, what: 'Asking whether this instance leads', timeoutSeconds, signals: [signal] }
    return boundedCall(asking, () => this.#locks.renew())
  }

  async #stand(patience: Parameters<LockClient['tryLock']>[1], wins: (token: bigint) => void = () => {}): Promise<boolean> {
    try {
      await this.#locks.tryLock([KEY], patience)
      patience.signal?.throwIfAborted()
      this.#locks.signal.throwIfAborted()
    } catch (error) {
      // A call that was given up in the instant of its success leaves a lock that nobody would release.
      if (!this.#leadership.isLeader) void this.#locks.unlock([KEY]).catch(() => {})
      throw error
    }
    const token = this.#locks.tokenOf(KEY)
    if (token === null) return false
    if (this.#leadership.isLeader) return true
    this.#observedLeader = null
    wins(token)
    await this.#leadership.change(true)
    return true
  }

  async #look(patience: Parameters<LockClient['holders']>[1]): Promise<void> {
    try {
      this.#observedLeader = (await this.#locks.holders([KEY], patience)).get(KEY) ?? null
    } catch {
      // A courtesy: whoever needs the server finds out by asking it for the lock.
    }
  }

  #lost(): void {
    this.#observedLeader = null
    void this.#leadership.change(false)
  }

  #pauseSeconds(failures: number): number {
    const { pollSeconds, longestRetrySeconds, random } = this.#options
    return failures === 0
      ? pollSeconds
      : backoffSeconds(failures, { firstSeconds: pollSeconds, longestSeconds: Math.max(longestRetrySeconds, pollSeconds), random })
  }
}
