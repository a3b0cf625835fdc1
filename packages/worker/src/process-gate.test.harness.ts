import type {
  CampaigningLeaderElector,
  CancelTimer,
  ClaimOutcome,
  Clock,
  FencedLeaderElector,
  LeaderChangeCallback,
  Ownership,
  Transport,
} from '@es/coordination-core'
import type { InMemoryLeaderElector, InMemoryOwnership, InMemoryTransport } from '@es/coordination-memory'
import type { ManualClock } from '@es/coordination-testing'

/** A simulated process: what reaches it from outside passes here, and waits while it is paused, and is gone once it is dead. */
export class ProcessGate implements Clock {
  readonly #clock: ManualClock
  readonly #timers = new Set<CancelTimer>()
  #held: (() => void)[] = []
  readonly death = new AbortController()
  isPaused = false

  constructor(clock: ManualClock) {
    this.#clock = clock
  }

  now = (): Date => this.#clock.now()
  monotonicSeconds = (): number => this.#clock.monotonicSeconds()

  setTimer(delaySeconds: number, callback: () => void): CancelTimer {
    if (this.death.signal.aborted) return () => {}
    let isCancelled = false
    const stop = this.#clock.setTimer(delaySeconds, () => {
      this.#timers.delete(cancel)
      this.pass(() => {
        if (!isCancelled) callback()
      })
    })
    const cancel = (): void => {
      isCancelled = true
      this.#timers.delete(cancel)
      stop()
    }
    this.#timers.add(cancel)
    return cancel
  }

  /** A timer of the user's code, which is not the worker's to clean up. */
  wait(seconds: number, callback: () => void): void {
    this.#clock.setTimer(seconds, () => this.pass(callback))
  }

  get pendingTimers(): number {
    return this.#timers.size
  }

  pass(step: () => void): void {
    if (this.death.signal.aborted) return
    // In order: what comes after a pause does not overtake what waited.
    if (this.isPaused || this.#held.length > 0) this.#held.push(step)
    else step()
  }

  /** The answer of a backend. */
  answer<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      work.then(
        (value) => this.pass(() => resolve(value)),
        (error) => this.pass(() => reject(error)),
      )
    })
  }

  resume(): void {
    this.isPaused = false
    this.#catchUp()
  }

  #catchUp(): void {
    if (this.#held.length === 0) return
    this.#clock.setTimer(0, () => {
      if (this.isPaused) return
      const [step] = this.#held
      step?.()
      this.#held.shift()
      this.#catchUp()
    })
  }

  kill(): void {
    this.death.abort(new Error('killed'))
    this.#held = []
    for (const cancel of [...this.#timers]) cancel()
  }
}

/** The elector of a simulated process. */
export class GatedElector implements FencedLeaderElector, CampaigningLeaderElector {
  readonly #gate: ProcessGate
  readonly inner: InMemoryLeaderElector
  readonly #callbacks = new Map<LeaderChangeCallback, LeaderChangeCallback>()

  constructor(gate: ProcessGate, inner: InMemoryLeaderElector) {
    this.#gate = gate
    this.inner = inner
  }

  get identity(): string {
    return this.inner.identity
  }
  get isLeader(): boolean {
    return this.inner.isLeader && !this.#gate.death.signal.aborted
  }
  get currentLeader(): string | null {
    return this.inner.currentLeader
  }
  get fencingToken(): bigint | null {
    return this.inner.fencingToken
  }
  tryAcquire = (): Promise<boolean> => this.#gate.answer(this.inner.tryAcquire())
  release = (): Promise<void> => this.#gate.answer(this.inner.release())
  renew = (): Promise<boolean> => this.#gate.answer(this.inner.renew())
  campaign({ signal }: { readonly signal?: AbortSignal } = {}): Promise<void> {
    const signals = signal ? [signal, this.#gate.death.signal] : [this.#gate.death.signal]
    return this.#gate.answer(this.inner.campaign({ signal: AbortSignal.any(signals) }))
  }
  onLeaderChange(callback: LeaderChangeCallback): void {
    const gated: LeaderChangeCallback = (isLeader) => this.#gate.pass(() => void callback(isLeader))
    this.#callbacks.set(callback, gated)
    this.inner.onLeaderChange(gated)
  }
  removeLeaderChangeCallback(callback: LeaderChangeCallback): boolean {
    const gated = this.#callbacks.get(callback)
    return gated !== undefined && this.inner.removeLeaderChangeCallback(gated)
  }
}

/** Makes calls of the claim backend slow or broken. */
export interface BackendFault {
  /** Called before the backend is; may throw, or take its time. */
  before?: (method: 'claim' | 'release' | 'observe') => Promise<void> | void
  /** Called after it, with its answer on the way. */
  after?: (method: 'claim' | 'release' | 'observe') => Promise<void> | void
}

/** The claims of a simulated process. */
export class GatedOwnership implements Ownership {
  readonly #gate: ProcessGate
  readonly inner: InMemoryOwnership
  readonly fault: BackendFault

  constructor(gate: ProcessGate, inner: InMemoryOwnership, fault: BackendFault) {
    this.#gate = gate
    this.inner = inner
    this.fault = fault
  }

  get instanceId(): string {
    return this.inner.instanceId
  }
  get held(): Ownership['held'] {
    return this.inner.held
  }
  claim(names: readonly string[]): Promise<ClaimOutcome> {
    return this.#call('claim', () => this.inner.claim(names))
  }
  release(names: readonly string[]): Promise<void> {
    return this.#call('release', () => this.inner.release(names))
  }
  observe(names: readonly string[]): ReturnType<Ownership['observe']> {
    return this.#call('observe', () => this.inner.observe(names))
  }

  #call<T>(method: 'claim' | 'release' | 'observe', call: () => Promise<T>): Promise<T> {
    const work = async (): Promise<T> => {
      await this.fault.before?.(method)
      const answer = await call()
      await this.fault.after?.(method)
      return answer
    }
    return this.#gate.answer(work())
  }
}

/** The transport of a simulated process; keeps what was sent. */
export class GatedTransport implements Transport {
  readonly #gate: ProcessGate
  readonly inner: InMemoryTransport
  /** Called before each publication; may throw, or take its time. */
  beforePublish: ((topic: string) => Promise<void> | void) | null = null
  readonly sent: { readonly topic: string; readonly message: Readonly<Record<string, unknown>>; readonly at: number }[] = []

  constructor(gate: ProcessGate, inner: InMemoryTransport) {
    this.#gate = gate
    this.inner = inner
  }

  async publish(topic: string, message: Readonly<Record<string, unknown>>): Promise<void> {
    if (this.#gate.death.signal.aborted) throw new Error('killed')
    await this.beforePublish?.(topic)
    this.sent.push({ topic, message, at: this.#gate.monotonicSeconds() })
    await this.inner.publish(topic, message)
  }
  subscribe: Transport['subscribe'] = (topic, handler) => this.inner.subscribe(topic, (message) => this.#gate.pass(() => handler(message)))
  onResync: Transport['onResync'] = (callback) => this.inner.onResync(() => this.#gate.pass(callback))
}
