import { type Claim, CoordinationError } from '@es/coordination-core'
import type { LockKey } from './lock-key.js'
import type { LockSession } from './lock-session.js'

/** What a {@link PostgresClaim} is made of. */
export interface PostgresClaimFields {
  readonly subscription: string
  readonly fencingToken: bigint
  readonly key: LockKey
  readonly locks: LockSession
}

/** One tenure of one lock. It ends once and for all: the next tenure is another claim. */
export class PostgresClaim implements Claim {
  readonly subscription: string
  readonly fencingToken: bigint
  readonly key: LockKey
  readonly #locks: LockSession
  // Made when it is asked for: most of a thousand claims at once would otherwise wait for a thousand controllers.
  #controller: AbortController | null = null
  #endedBecause: CoordinationError | null = null

  constructor({ subscription, fencingToken, key, locks }: PostgresClaimFields) {
    this.subscription = subscription
    this.fencingToken = fencingToken
    this.key = key
    this.#locks = locks
  }

  get isHeld(): boolean {
    // Also false once it was released: the key has no token from then on, and another one in its next tenure.
    return this.#locks.tokenOf(this.key) === this.fencingToken
  }

  get signal(): AbortSignal {
    if (this.#controller === null) {
      this.#controller = new AbortController()
      if (this.#endedBecause !== null) this.#controller.abort(this.#endedBecause)
    }
    return this.#controller.signal
  }

  /** Ends the claim; `cause` of a loss is why the lock session ended. Only the first call counts. */
  end(code: 'claim_released' | 'claim_lost', cause?: unknown): void {
    if (this.#endedBecause !== null) return
    const what = code === 'claim_released' ? 'was released' : 'was lost: another instance may own the subscription now'
    this.#endedBecause = new CoordinationError(code, `The claim on ${JSON.stringify(this.subscription)} ${what}`, { cause })
    this.#controller?.abort(this.#endedBecause)
  }
}
