import { requireName } from '@es/coordination-core'
import { deriveLockKey, type LockKey } from './lock-key.js'

/** How many keys are remembered: a worker asks for the same names again and again, and a hash costs more than all the rest on this side. */
const REMEMBERED = 20_000

/** The lock keys of the subscriptions in a namespace. */
export class SubscriptionKeys {
  readonly #namespace: string
  readonly #remembered = new Map<string, LockKey>()

  constructor(namespace: string) {
    this.#namespace = `claim/${namespace}`
  }

  /**
   * The key of each of `subscriptions`, in the order in which they first occur.
   *
   * @throws CoordinationError `invalid_options` for a text that cannot name a subscription.
   */
  of(subscriptions: readonly string[]): Map<string, LockKey> {
    return new Map(subscriptions.map((subscription) => [subscription, this.#of(subscription)]))
  }

  #of(subscription: string): LockKey {
    const known = this.#remembered.get(subscription)
    if (known !== undefined) return known
    const key = deriveLockKey(this.#namespace, requireName('subscription', subscription))
    if (this.#remembered.size >= REMEMBERED) this.#remembered.clear()
    this.#remembered.set(subscription, key)
    return key
  }
}
