import {
  type CampaigningLeaderElector,
  ConnectionError,
  type FencedLeaderElector,
  invalidOption,
  type LeaderChangeCallback,
  Leadership,
  type Logger,
  requireLogger,
  requireName,
  requireOptions,
  type TryAcquireOptions,
} from '@es/coordination-core'
import { SharedLeaderState } from './shared-leader-state.js'

/** What an {@link InMemoryLeaderElector} may be given. */
export interface InMemoryLeaderElectorOptions {
  /**
   * The election to take part in. Electors that share one contend; an elector without one has an election to itself, which it always wins.
   * @default a new one
   */
  readonly sharedState?: SharedLeaderState
  /**
   * Told about failing callbacks.
   * @default consoleLogger
   */
  readonly logger?: Logger
}

/** A call of `campaign` that has not settled. */
interface CampaignCall {
  /** The term that ended the wait; the call then only waits for the callbacks. */
  wonTerm: bigint | null
  succeed(): void
  fail(reason: unknown): void
}

/**
 * A leader elector for tests and for programs of one process.
 *
 * Among the electors that share a {@link SharedLeaderState} at most one leads at any instant: taking, giving up and losing leadership
 * change the shared state and `isLeader` in one synchronous step. There is no backend, so nothing here rejects with a `ConnectionError` before
 * {@link close}, no lease runs out, and `timeoutSeconds` bounds nothing. It says nothing about other processes: never elect a leader of a cluster with it.
 */
export class InMemoryLeaderElector implements FencedLeaderElector, CampaigningLeaderElector, AsyncDisposable {
  readonly identity: string
  readonly #state: SharedLeaderState
  readonly #leadership: Leadership
  readonly #campaigns = new Set<CampaignCall>()
  #term: bigint | null = null
  #isClosed = false

  /** @throws CoordinationError `invalid_options` naming the option, its value and the rule. */
  constructor(identity: string, options: InMemoryLeaderElectorOptions = {}) {
    this.identity = requireName('identity', identity)
    const { sharedState = new SharedLeaderState(), logger } = requireOptions(options)
    if (!(sharedState instanceof SharedLeaderState)) {
      throw invalidOption('sharedState', sharedState, 'the SharedLeaderState of all electors that are to compete')
    }
    this.#state = sharedState
    this.#leadership = new Leadership({ identity, logger: requireLogger(logger) })
  }

  get isLeader(): boolean {
    return this.#leadership.isLeader
  }

  /** Identity of the leader of the shared state; never behind. */
  get currentLeader(): string | null {
    return this.#state.currentLeader
  }

  get fencingToken(): bigint | null {
    return this.isLeader ? this.#term : null
  }

  /**
   * See `LeaderElector.tryAcquire`. `false` also while others wait in line for leadership that has just become free.
   *
   * The answer is taken after the callbacks ran, so a callback that releases on `true` makes it `false`: whoever acts on the answer
   * does not lead. The attempt itself takes no time, so `signal` is looked at once, before it; leadership that the elector had before is kept.
   *
   * @throws the signal's reason when `signal` is aborted.
   * @throws ConnectionError `closed` after {@link close}.
   */
  async tryAcquire({ signal }: TryAcquireOptions = {}): Promise<boolean> {
    signal?.throwIfAborted()
    this.#requireOpen()
    const term = this.#state.take(this)
    if (term === null) return false
    await this.#lead(term)
    return this.isLeader
  }

  /** See `LeaderElector.release`. Leadership is free, or passed to the next in line, before this returns its promise. */
  async release(): Promise<void> {
    await this.#lose()
  }

  /** Same as {@link isLeader}: there is no lease to extend. Make a renewal fail with {@link forceLoseLeadership}. */
  async renew(): Promise<boolean> {
    return this.isLeader
  }

  /**
   * Waits in line until this elector leads, and resolves once its callbacks were told; at once when it leads already. A callback that
   * releases on `true` ends the term, but the campaign was won and resolves: look at `isLeader`. Calls in parallel share one place in line.
   *
   * @throws the signal's reason as soon as `signal` aborts, also while the callbacks are being told. A term that this call has won is
   * released then, unless another campaign of this elector is still waiting for the same; one from before the call is kept.
   * @throws ConnectionError `closed` once {@link close} was called.
   */
  async campaign({ signal }: { readonly signal?: AbortSignal } = {}): Promise<void> {
    signal?.throwIfAborted()
    this.#requireOpen()
    if (this.isLeader) return
    await new Promise<void>((resolve, reject) => {
      const finish = (): void => {
        this.#campaigns.delete(call)
        signal?.removeEventListener('abort', onAbort)
      }
      const onAbort = (): void => {
        call.fail(signal?.reason)
        if (this.#campaigns.size > 0) return
        this.#state.leaveLine(this)
        if (call.wonTerm !== null && call.wonTerm === this.#term) void this.#lose()
      }
      const call: CampaignCall = {
        wonTerm: null,
        succeed() {
          finish()
          resolve()
        },
        fail(reason) {
          finish()
          reject(reason)
        },
      }
      this.#campaigns.add(call)
      signal?.addEventListener('abort', onAbort, { once: true })
      const term = this.#state.take(this)
      if (term === null) this.#state.joinLine(this, (won) => void this.#lead(won))
      else void this.#lead(term)
    })
  }

  /** Takes leadership away as a backend would: the callbacks are told `false`, and a rival may lead. Does nothing when not leading. */
  async forceLoseLeadership(): Promise<void> {
    await this.#lose()
  }

  /**
   * Takes away leadership and the place in line, as a backend does that ends its session: the callbacks are told `false`, and campaigns under way reject
   * with a ConnectionError `connection_lost`.
   */
  async forceEndSession(): Promise<void> {
    await this.#endSession(new ConnectionError('connection_lost', 'The session was ended; stand again'))
  }

  /** Gives up leadership, or the place in line, for good: campaigns under way and later attempts reject with `closed`. Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#endSession(closedError())
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  onLeaderChange(callback: LeaderChangeCallback): void {
    this.#leadership.onLeaderChange(callback)
  }

  removeLeaderChangeCallback(callback: LeaderChangeCallback): boolean {
    return this.#leadership.removeLeaderChangeCallback(callback)
  }

  #requireOpen(): void {
    if (this.#isClosed) throw closedError()
  }

  #lead(term: bigint): Promise<void> {
    this.#term = term
    const won = [...this.#campaigns].filter((call) => call.wonTerm === null)
    // Before the callbacks run: one of them may abort the very campaign that won.
    for (const call of won) call.wonTerm = term
    const told = this.#leadership.change(true)
    void told.then(() => {
      for (const call of won) call.succeed()
    })
    return told
  }

  async #endSession(reason: ConnectionError): Promise<void> {
    this.#state.leaveLine(this)
    for (const call of [...this.#campaigns]) call.fail(reason)
    await this.#lose()
  }

  async #lose(): Promise<void> {
    let told: Promise<void> | undefined
    // Free first: a callback(false) runs inside `change` and may take leadership again.
    this.#state.vacate(this, () => {
      told = this.#leadership.change(false)
    })
    await told
  }
}

function closedError(): ConnectionError {
  return new ConnectionError('closed', 'The elector was closed; make a new one to stand again')
}
