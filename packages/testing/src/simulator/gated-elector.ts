import { boundedCall, type LeaderChangeCallback, type LeaderElector, type TryAcquireOptions } from '@es/coordination-core'
import type { LifeRecord } from './life-record.js'
import type { SimulatedProcess } from './simulated-process.js'
import type { Wire } from './wire.js'

/** How an adapter is put into a simulated process. */
export interface Gate {
  readonly process: SimulatedProcess
  readonly record: LifeRecord
  /** Carries whole calls; `null` when the adapter uses the wire itself. */
  readonly wire: Wire | null
  /** Told of the subscriptions of each claim before it is made. */
  readonly claiming?: (subscriptions: readonly string[]) => void
}

type Campaign = (options?: { readonly signal?: AbortSignal }) => Promise<void>

/**
 * An elector as the code of a simulated process sees it: what comes from outside waits while the process is paused, and calls go over the wire unless
 * the adapter does that itself. Has exactly the optional members that the adapter has.
 */
export class GatedElector implements LeaderElector {
  readonly identity: string
  declare readonly fencingToken: bigint | null
  declare readonly campaign: Campaign
  readonly #inner: LeaderElector
  readonly #gate: Gate
  readonly #callbacks = new Map<LeaderChangeCallback, LeaderChangeCallback[]>()

  constructor(inner: LeaderElector, gate: Gate) {
    this.#inner = inner
    this.#gate = gate
    this.identity = inner.identity
    // First, so that it is written down before anybody acts on it.
    this.onLeaderChange(() => gate.record.look(inner))
    if ('fencingToken' in inner) Object.defineProperty(this, 'fencingToken', { get: () => inner.fencingToken, enumerable: true })
    if ('campaign' in inner) this.campaign = this.#makeCampaign(inner.campaign as Campaign)
  }

  get isLeader(): boolean {
    return this.#inner.isLeader
  }

  get currentLeader(): string | null {
    return this.#inner.currentLeader
  }

  tryAcquire(options: TryAcquireOptions = {}): Promise<boolean> {
    return this.#call('Asking for leadership', options, (over) => this.#inner.tryAcquire({ ...options, ...(over && { signal: over }) }))
  }

  release(): Promise<void> {
    return this.#call('Releasing leadership', {}, () => this.#inner.release())
  }

  renew(): Promise<boolean> {
    return this.#call('Renewing leadership', {}, () => this.#inner.renew())
  }

  onLeaderChange(callback: LeaderChangeCallback): void {
    const gated: LeaderChangeCallback = (isLeader) =>
      new Promise((resolve, reject) => {
        this.#gate.process.pass(() => {
          // In the same step as it passes: whoever leads now must know before anything else runs.
          try {
            Promise.resolve(callback(isLeader)).then(resolve, reject)
          } catch (error) {
            reject(error)
          }
        })
      })
    this.#callbacks.set(callback, [...(this.#callbacks.get(callback) ?? []), gated])
    this.#inner.onLeaderChange(gated)
  }

  removeLeaderChangeCallback(callback: LeaderChangeCallback): boolean {
    const gated = this.#callbacks.get(callback)?.shift()
    return gated !== undefined && this.#inner.removeLeaderChangeCallback(gated)
  }

  #makeCampaign(campaign: Campaign): Campaign {
    return ({ signal } = {}) => {
      const { wire, process } = this.#gate
      if (wire === null) return campaign.call(this.#inner, signal === undefined ? {} : { signal })
      return this.#call('Campaigning', { signal }, async (over = process.death) => {
        // Whoever is dead stands in no line; nobody is left to be told.
        await campaign.call(this.#inner, { signal: AbortSignal.any([over, process.death]) })
        if (over.aborted) await this.#inner.release()
      })
    }
  }

  #call<T>(
    what: string,
    { signal, timeoutSeconds }: { readonly signal?: AbortSignal | undefined; readonly timeoutSeconds?: number },
    work: (over?: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const { wire, process } = this.#gate
    if (wire === null) return work(signal)
    return boundedCall({ clock: process.userClock, what, timeoutSeconds, signals: [signal] }, ({ signal: over }) =>
      wire.request(() => work(over)),
    )
  }
}
