import {
  type CampaigningLeaderElector,
  type CancelTimer,
  type Clock,
  type FencedLeaderElector,
  type LeaderChangeCallback,
  Leadership,
  type Logger,
  type TryAcquireOptions,
} from '@es/coordination-core'

type Elector = FencedLeaderElector & CampaigningLeaderElector

/** What a {@link StubbornElector} is made of. */
export interface StubbornElectorOptions {
  readonly clock: Clock
  readonly logger: Logger
  readonly believesOnForSeconds: number
}

/** An elector whose deadline means nothing to it: it goes on leading for a while after its term has ended otherwise than by a release. */
export class StubbornElector implements Elector {
  readonly identity: string
  readonly #inner: Elector
  readonly #leadership: Leadership
  #token: bigint | null = null
  #isReleasing = false
  #cancelEnd: CancelTimer = () => {}

  constructor(inner: Elector, { clock, logger, believesOnForSeconds }: StubbornElectorOptions) {
    this.#inner = inner
    this.identity = inner.identity
    this.#leadership = new Leadership({ identity: inner.identity, logger })
    inner.onLeaderChange(async (isLeader) => {
      this.#cancelEnd()
      if (isLeader) this.#token = inner.fencingToken
      if (isLeader || this.#isReleasing) return await this.#leadership.change(isLeader)
      this.#cancelEnd = clock.setTimer(believesOnForSeconds, () => void this.#leadership.change(false))
    })
  }

  get isLeader(): boolean {
    return this.#leadership.isLeader
  }

  get fencingToken(): bigint | null {
    return this.isLeader ? this.#token : null
  }

  get currentLeader(): string | null {
    return this.isLeader ? this.identity : this.#inner.currentLeader
  }

  async tryAcquire(options?: TryAcquireOptions): Promise<boolean> {
    return this.isLeader || (await this.#inner.tryAcquire(options))
  }

  async campaign(options?: { readonly signal?: AbortSignal }): Promise<void> {
    if (!this.isLeader) await this.#inner.campaign(options)
  }

  async release(): Promise<void> {
    this.#cancelEnd()
    this.#isReleasing = true
    try {
      await this.#inner.release()
    } finally {
      this.#isReleasing = false
      await this.#leadership.change(false)
    }
  }

  async renew(): Promise<boolean> {
    await this.#inner.renew()
    return this.isLeader
  }

  onLeaderChange(callback: LeaderChangeCallback): void {
    this.#leadership.onLeaderChange(callback)
  }

  removeLeaderChangeCallback(callback: LeaderChangeCallback): boolean {
    return this.#leadership.removeLeaderChangeCallback(callback)
  }
}
