import { type AssignmentStamp, type Clock, isOlderAssignment, type WorkAssignment } from '@es/coordination-core'

/** What of an assignment is kept. */
type NotedAssignment = Pick<WorkAssignment, 'targetInstanceId' | 'epoch' | 'revision' | 'subscriptions'>

interface OwnerRecord extends AssignmentStamp {
  readonly instanceId: string
}

/**
 * Who should own what, as told by the assignments of all instances that went by on the bus. A new leader starts from it, so that work stays where
 * the leader before it put it, even while nobody holds a claim on it.
 *
 * - B1. Of two assignments that name a subscription the newer one counts, also where the older one arrives later.
 * - B2. A subscription that its owner was told to let go of has none until somebody else is told to run it.
 * - B3. What was not repeated for `forgetAfterSeconds` is no longer newer than anything: see the coordinator's rule for epochs.
 */
export class AssignmentBook {
  readonly #clock: Clock
  readonly #forgetAfterSeconds: number
  readonly #newest = new Map<string, AssignmentStamp>()
  readonly #owners = new Map<string, OwnerRecord>()
  readonly #ownerOf = new Map<string, string>()
  /** The other way round, so that an assignment costs what it names and not all that there is. */
  readonly #namesOf = new Map<string, Set<string>>()
  readonly #homeOf = new Map<string, string>()

  constructor(clock: Clock, forgetAfterSeconds: number) {
    this.#clock = clock
    this.#forgetAfterSeconds = forgetAfterSeconds
  }

  /** Takes an assignment unless a newer one of the same target is known; one without an epoch counts as the oldest. */
  note({ targetInstanceId: instanceId, epoch = -1n, revision = -1, subscriptions }: NotedAssignment): void {
    const stamp = { epoch, revision, at: this.#clock.monotonicSeconds() }
    if (this.#isOlder(stamp, this.#newest.get(instanceId))) return
    this.#newest.set(instanceId, stamp)
    const names = new Set(subscriptions)
    for (const name of this.#namesOf.get(instanceId) ?? []) if (!names.has(name)) this.#forget(name)
    for (const name of names) {
      const before = this.#owners.get(name)
      if (this.#isOlder(stamp, before)) continue
      this.#noteHome(name, before?.instanceId, instanceId)
      if (before?.instanceId !== instanceId) this.#forget(name)
      this.#owners.set(name, { instanceId, ...stamp })
      this.#ownerOf.set(name, instanceId)
      this.#namesOf.set(instanceId, (this.#namesOf.get(instanceId) ?? new Set()).add(name))
    }
  }

  /** Forgets instances that are not worth remembering. */
  keepOnly(isKnown: (instanceId: string) => boolean): void {
    for (const instanceId of this.#newest.keys()) if (!isKnown(instanceId)) this.#newest.delete(instanceId)
    for (const [name, owner] of this.#ownerOf) if (!isKnown(owner)) this.#forget(name)
    for (const [name, home] of this.#homeOf) if (!isKnown(home)) this.#homeOf.delete(name)
  }

  /** The owner of each subscription. A live view. */
  get ownerOf(): ReadonlyMap<string, string> {
    return this.#ownerOf
  }

  /**
   * Where each subscription was before its owner left without having been told to let go. When that owner comes back, or somebody takes its place,
   * these are the ones to move: what never had to move stays. A live view.
   */
  get homeOf(): ReadonlyMap<string, string> {
    return this.#homeOf
  }

  #isOlder(stamp: AssignmentStamp, than: AssignmentStamp | undefined): boolean {
    return isOlderAssignment(stamp, than, this.#forgetAfterSeconds)
  }

  #forget(name: string): void {
    const owner = this.#ownerOf.get(name)
    if (owner === undefined) return
    this.#owners.delete(name)
    this.#ownerOf.delete(name)
    const owned = this.#namesOf.get(owner)
    owned?.delete(name)
    if (owned?.size === 0) this.#namesOf.delete(owner)
  }

  #noteHome(name: string, owner: string | undefined, next: string): void {
    if (owner === next) return
    // An owner that let go because it was told to has no claim to it: the next one is its home.
    if (owner === undefined || this.#homeOf.get(name) === next) this.#homeOf.delete(name)
    else if (!this.#homeOf.has(name)) this.#homeOf.set(name, owner)
  }
}
