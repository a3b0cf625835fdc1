import {
  type CampaigningLeaderElector,
  type Claim,
  type ClaimHolder,
  type ClaimOutcome,
  type FencedLeaderElector,
  type LeaderChangeCallback,
  type Ownership,
  sleep,
  type TryAcquireOptions,
} from '@es/coordination-core'
import type { BeliefRecorder } from './belief-recorder.js'

type Elector = FencedLeaderElector & CampaigningLeaderElector

/** An elector that tells the recorder before it releases; everything else the recorder can see from outside. */
export class RecordedElector implements Elector {
  readonly #elector: Elector
  readonly #recorder: BeliefRecorder

  constructor(elector: Elector, recorder: BeliefRecorder) {
    this.#elector = elector
    this.#recorder = recorder
  }

  get identity(): string {
    return this.#elector.identity
  }

  get isLeader(): boolean {
    return this.#elector.isLeader
  }

  get fencingToken(): bigint | null {
    return this.#elector.fencingToken
  }

  get currentLeader(): string | null {
    return this.#elector.currentLeader
  }

  tryAcquire(options?: TryAcquireOptions): Promise<boolean> {
    return this.#elector.tryAcquire(options)
  }

  campaign(options?: { readonly signal?: AbortSignal }): Promise<void> {
    return this.#elector.campaign(options)
  }

  renew(): Promise<boolean> {
    return this.#elector.renew()
  }

  async release(): Promise<void> {
    this.#recorder.abdicating()
    await this.#elector.release()
  }

  onLeaderChange(callback: LeaderChangeCallback): void {
    this.#elector.onLeaderChange(callback)
  }

  removeLeaderChangeCallback(callback: LeaderChangeCallback): boolean {
    return this.#elector.removeLeaderChangeCallback(callback)
  }
}

/** An ownership that tells the recorder what was claimed, and what is about to be released. */
export class RecordedOwnership implements Ownership {
  readonly #ownership: Ownership
  readonly #recorder: BeliefRecorder
  readonly #delaySeconds: number

  /** @param delaySeconds how long a claim takes longer. */
  constructor(ownership: Ownership, recorder: BeliefRecorder, delaySeconds: number) {
    this.#ownership = ownership
    this.#recorder = recorder
    this.#delaySeconds = delaySeconds
  }

  get instanceId(): string {
    return this.#ownership.instanceId
  }

  get held(): ReadonlyMap<string, Claim> {
    return this.#ownership.held
  }

  async claim(subscriptions: readonly string[], options?: Parameters<Ownership['claim']>[1]): Promise<ClaimOutcome> {
    if (this.#delaySeconds > 0) await sleep(this.#delaySeconds, { signal: options?.signal })
    const outcome = await this.#ownership.claim(subscriptions, options)
    this.#recorder.claimed(outcome.claimed)
    return outcome
  }

  async release(subscriptions: readonly string[]): Promise<void> {
    this.#recorder.releasing(subscriptions)
    await this.#ownership.release(subscriptions)
  }

  observe(subscriptions: readonly string[]): Promise<ReadonlyMap<string, ClaimHolder>> {
    return this.#ownership.observe(subscriptions)
  }
}
