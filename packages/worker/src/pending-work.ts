import type { InstanceView } from './cluster-view.js'

/** Longest time for which a message is thought to be under way. */
const LATENCY_SECONDS = 1

interface PendingName {
  readonly toldAt: number
  /** Since when the instance is told to run something else instead. */
  withdrawnAt: number | null
}

/**
 * What instances without claims were told to run and do not say yet that they run. They may begin it at any moment, also after they were told
 * otherwise, because a message may be late or lost: so it is theirs.
 *
 * - E1. A heartbeat that lists it ends that: from there on heartbeats tell.
 * - E2. What was withdrawn is free once the instance was heard without it long enough after the withdrawal.
 * - E3. Whoever is not healthy begins nothing any more.
 */
export class PendingWork {
  readonly #ofInstance = new Map<string, Map<string, PendingName>>()

  /** An instance is told to run `subscriptions`, its full set. */
  told(instanceId: string, subscriptions: readonly string[], now: number): void {
    const pending = this.#ofInstance.get(instanceId) ?? new Map<string, PendingName>()
    for (const each of pending.values()) each.withdrawnAt ??= now
    for (const name of subscriptions) pending.set(name, { toldAt: now, withdrawnAt: null })
    this.#ofInstance.set(instanceId, pending)
  }

  /** Takes note of what `instances` have answered. */
  heard(instances: readonly InstanceView[]): void {
    const healthy = new Map(
      instances.filter(({ status, usesClaims }) => status === 'healthy' && !usesClaims).map((one) => [one.instanceId, one]),
    )
    for (const [instanceId, pending] of this.#ofInstance) {
      const instance = healthy.get(instanceId)
      for (const [name, each] of pending) if (instance === undefined || hasAnswered(instance, name, each)) pending.delete(name)
      if (pending.size === 0) this.#ofInstance.delete(instanceId)
    }
  }

  /** Who may begin what at any moment. */
  get owners(): ReadonlyMap<string, string> {
    return new Map([...this.#ofInstance].flatMap(([instanceId, pending]) => [...pending.keys()].map((name) => [name, instanceId] as const)))
  }
}

function hasAnswered({ heardAt, subscriptions }: InstanceView, name: string, { toldAt, withdrawnAt }: PendingName): boolean {
  if (subscriptions.includes(name)) return heardAt > toldAt
  return withdrawnAt !== null && heardAt > withdrawnAt + LATENCY_SECONDS
}
