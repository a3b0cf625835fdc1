import type { WorkAssignment } from '@es/coordination-core'

/**
 * Who should own what, as told by the assignments of all instances that went by on the bus. A new leader starts from it, so that work stays where
 * the leader before it put it, even while nobody holds a claim on it.
 */
export class AssignmentBook {
  readonly #homes = new Map<string, string>()
  readonly #sets = new Map<string, { readonly epoch: bigint; readonly revision: number; readonly subscriptions: readonly string[] }>()
  #ownerOf: Map<string, string> | null = null

  /** Takes an assignment unless a newer one of the same target is known; one without an epoch counts as the oldest. */
  note({ targetInstanceId, epoch = -1n, revision = -1, subscriptions }: WorkAssignment): void {
    const known = this.#sets.get(targetInstanceId)
    if (known && (epoch < known.epoch || (epoch === known.epoch && revision < known.revision))) return
    this.#noteHomes(targetInstanceId, subscriptions)
    // The newest goes last, so that of two targets with one subscription the newer assignment counts.
    this.#sets.delete(targetInstanceId)
    this.#sets.set(targetInstanceId, { epoch, revision, subscriptions })
    this.#ownerOf = null
  }

  /** Forgets targets that are not worth remembering. */
  keepOnly(isKnown: (instanceId: string) => boolean): void {
    for (const instanceId of this.#sets.keys()) {
      if (isKnown(instanceId)) continue
      this.#sets.delete(instanceId)
      this.#ownerOf = null
    }
    for (const [name, home] of this.#homes) if (!isKnown(home)) this.#homes.delete(name)
  }

  /**
   * Where each subscription was before its owner left without having been told to let go. When that owner comes back, or somebody takes its place,
   * these are the ones to move: what never had to move stays.
   */
  get homeOf(): ReadonlyMap<string, string> {
    return this.#homes
  }

  /** The owner of each subscription, by the newest assignment that names it. */
  get ownerOf(): ReadonlyMap<string, string> {
    if (this.#ownerOf === null) {
      this.#ownerOf = new Map()
      for (const [instanceId, { subscriptions }] of this.#sets) for (const name of subscriptions) this.#ownerOf.set(name, instanceId)
    }
    return this.#ownerOf
  }

  #noteHomes(target: string, subscriptions: readonly string[]): void {
    const ownerOf = this.ownerOf
    for (const name of subscriptions) {
      const owner = ownerOf.get(name)
      if (owner === target) continue
      // An owner that let go because it was told to has no claim to it: the new one is its home.
      if (owner === undefined || this.#homes.get(name) === target) this.#homes.delete(name)
      else if (!this.#homes.has(name)) this.#homes.set(name, owner)
    }
  }
}
