import { type Claim, type ClaimHolder, type ClaimOutcome, CoordinationError, type DeniedClaim, type Ownership } from '@es/coordination-core'
import type { LockClient } from './lock-client.js'

type CallOptions = Parameters<Ownership['claim']>[1]

const NOTHING: ReadonlyMap<string, Claim> = new Map()

/** Claims as locks of a `LockServer`, all of them on one session: they are certain, and lost, together. */
export class LockOwnership implements Ownership {
  readonly instanceId: string
  readonly #locks: LockClient
  readonly #claims = new Map<string, LockClaim>()
  /** How many calls under way want each subscription. */
  readonly #wanted = new Map<string, number>()

  constructor(instanceId: string, locks: LockClient) {
    this.instanceId = instanceId
    this.#locks = locks
    locks.addListener({ lost: (reason) => this.#end([...this.#claims.keys()], 'claim_lost', reason.message) })
  }

  get held(): ReadonlyMap<string, Claim> {
    const [any] = this.#claims.values()
    return any === undefined || any.isHeld ? this.#claims : NOTHING
  }

  async claim(subscriptions: readonly string[], { timeoutSeconds = 10, signal }: CallOptions = {}): Promise<ClaimOutcome> {
    signal?.throwIfAborted()
    this.#locks.signal.throwIfAborted()
    const names = [...new Set(subscriptions)]
    if (names.length === 0) return { claimed: [], denied: [] }
    for (const name of names) this.#wanted.set(name, (this.#wanted.get(name) ?? 0) + 1)
    try {
      await this.#locks.tryLock(names.map(keyOf), { timeoutSeconds, signal })
      const denied = names.filter((name) => this.#locks.tokenOf(keyOf(name)) === null)
      const holders = denied.length === 0 ? NOBODY : await this.#locks.holders(denied.map(keyOf), { timeoutSeconds, signal })
      signal?.throwIfAborted()
      this.#locks.signal.throwIfAborted()
      return this.#adopt(names, holders)
    } finally {
      this.#letGo(names)
    }
  }

  async release(subscriptions: readonly string[]): Promise<void> {
    const names = [...new Set(subscriptions)].filter((name) => this.#claims.has(name))
    // Before anybody is told, so that a listener that claims again asks behind it.
    const unlocked = this.#locks.unlock(names.map(keyOf))
    this.#end(names, 'claim_released', 'it was released')
    await unlocked
  }

  async observe(subscriptions: readonly string[]): Promise<ReadonlyMap<string, ClaimHolder>> {
    this.#locks.signal.throwIfAborted()
    const names = new Map(subscriptions.map((name) => [keyOf(name), name]))
    const holders = await this.#locks.holders([...names.keys()], { timeoutSeconds: 10 })
    return new Map([...holders].map(([key, holder]) => [names.get(key) ?? key, describe(holder)]))
  }

  /** Ends all claims; the session is closed by whoever opened the client. */
  close(): void {
    this.#end([...this.#claims.keys()], 'claim_released', 'the ownership was closed')
  }

  /** In one step, so that a call that was given up has made no claim. */
  #adopt(names: readonly string[], holders: ReadonlyMap<string, string>): ClaimOutcome {
    const claimed: Claim[] = []
    const denied: DeniedClaim[] = []
    for (const name of names) {
      const token = this.#locks.tokenOf(keyOf(name))
      if (token === null) {
        const holder = holders.get(keyOf(name))
        denied.push({ subscription: name, holder: holder === undefined ? null : describe(holder) })
        continue
      }
      let claim = this.#claims.get(name)
      if (claim?.fencingToken !== token) {
        this.#end([name], 'claim_lost', 'it was claimed anew')
        claim = new LockClaim(name, token, this.#locks)
        this.#claims.set(name, claim)
      }
      claimed.push(claim)
    }
    return { claimed, denied }
  }

  /** Unlocks what a call won that nobody wants any more. */
  #letGo(names: readonly string[]): void {
    const strays: string[] = []
    for (const name of names) {
      const others = (this.#wanted.get(name) ?? 1) - 1
      if (others > 0) this.#wanted.set(name, others)
      else this.#wanted.delete(name)
      if (others === 0 && !this.#claims.has(name) && this.#locks.tokenOf(keyOf(name)) !== null) strays.push(keyOf(name))
    }
    if (strays.length > 0) this.#locks.unlock(strays).catch(() => {})
  }

  #end(names: readonly string[], code: string, why: string): void {
    const ended = names.flatMap((name) => this.#claims.get(name) ?? [])
    for (const { subscription } of ended) this.#claims.delete(subscription)
    for (const claim of ended) claim.end(new CoordinationError(code, `The claim on ${claim.subscription} has ended: ${why}`))
  }
}

const NOBODY: ReadonlyMap<string, string> = new Map()

class LockClaim implements Claim {
  readonly subscription: string
  readonly fencingToken: bigint
  readonly #locks: LockClient
  readonly #end = new AbortController()

  constructor(subscription: string, fencingToken: bigint, locks: LockClient) {
    this.subscription = subscription
    this.fencingToken = fencingToken
    this.#locks = locks
  }

  get isHeld(): boolean {
    return !this.#end.signal.aborted && this.#locks.tokenOf(keyOf(this.subscription)) === this.fencingToken
  }

  get signal(): AbortSignal {
    return this.#end.signal
  }

  end(reason: CoordinationError): void {
    this.#end.abort(reason)
  }
}

function keyOf(subscription: string): string {
  return `claim/${subscription}`
}

function describe(name: string): ClaimHolder {
  return { instanceId: name, detail: 'on the simulated lock server' }
}
