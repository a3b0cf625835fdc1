import type { PeerInfo } from '@es/coordination-core'

/** What the leader knows of one instance, itself included. */
export interface InstanceView {
  readonly instanceId: string
  /** `healthy` may be given work; a `draining` one keeps what it holds until it lets go; the rest are gone as far as messages tell. */
  readonly status: PeerInfo['status']
  /** Monotonic time at which it was last heard. */
  readonly heardAt: number
  /** What it said it runs when it was last heard. */
  readonly subscriptions: readonly string[]
  /** Whether it claims what it runs; an instance of the reference library does not. */
  readonly usesClaims: boolean
  /** Most work it takes, in total weight; `undefined` when it set no limit. */
  readonly capacity: number | undefined
  /** What it cannot run, now or ever. */
  readonly declined: ReadonlySet<string>
}

/** A look at the claims: who held what at one moment. */
export interface Observation {
  /** Monotonic time before the question was asked: what is heard later is newer. */
  readonly at: number
  readonly holders: ReadonlyMap<string, string>
}

/** Everything a round of planning starts from. */
export interface ClusterView {
  /** Monotonic time. */
  readonly now: number
  readonly selfId: string
  /** Every known instance, this one included. */
  readonly instances: readonly InstanceView[]
  /** `null` without an ownership adapter, or before the first look. */
  readonly observation: Observation | null
  /** Who should own what as last announced by any leader. */
  readonly assigned: ReadonlyMap<string, string>
  /** Who may begin what at any moment, because it was told to and makes no claims; see {@link PendingWork}. */
  readonly pending: ReadonlyMap<string, string>
  /** Where work was before its owner left; it may want to go back there. */
  readonly homes: ReadonlyMap<string, string>
  /** Since when each instance has been told to run something that it does not say it runs. */
  readonly toldAt: ReadonlyMap<string, number>
  /** Who was told to run anything by this leader, as last said. */
  readonly told: ReadonlySet<string>
}

/** Who holds what, as well as can be known. */
export interface Holdings {
  /** Holder of each subscription that is held. */
  readonly holderOf: ReadonlyMap<string, string>
  /** Holders that are held by the claims but not heard: unknown, stale or terminated. What they hold cannot be given away. */
  readonly silentHolders: ReadonlySet<string>
}

/**
 * Who holds what. Of a look at the claims and a heartbeat the newer one is believed, instance by instance: a heartbeat tells of a release at
 * once, the claims tell of a death. An instance gone by its silence counts as holding only what the claims say. What an instance without claims
 * may begin at any moment counts as held, unless somebody is known to hold it.
 */
export function findHoldings({ instances, observation, selfId, assigned, pending }: ClusterView): Holdings {
  const holderOf = new Map<string, string>()
  const silentHolders = new Set<string>()
  const observed = groupByHolder(observation, instances, assigned)
  for (const { instanceId, status, heardAt, subscriptions, usesClaims } of instances) {
    const isHere = isPresent({ status })
    const claims = observed.get(instanceId)
    observed.delete(instanceId)
    // This instance knows itself better than the backend does.
    const trustsMessages = isHere && (instanceId === selfId || !usesClaims || observation === null || heardAt > observation.at)
    // One that is on its way out may have let go since the look.
    const claimed = new Set(claims)
    const stillListed = heardAt > (observation?.at ?? heardAt) ? new Set(subscriptions) : claimed
    const stillClaimed = claims?.filter((name) => stillListed.has(name))
    const held = trustsMessages ? subscriptions : (stillClaimed ?? [])
    if (!isHere && held.length > 0) silentHolders.add(instanceId)
    for (const subscription of held) {
      // Two that both list it: the claims decide, and otherwise whoever comes first.
      if (!holderOf.has(subscription) || claimed.has(subscription)) holderOf.set(subscription, instanceId)
    }
  }
  for (const [instanceId, subscriptions] of observed) {
    silentHolders.add(instanceId)
    for (const subscription of subscriptions) if (!holderOf.has(subscription)) holderOf.set(subscription, instanceId)
  }
  for (const [subscription, instanceId] of pending) if (!holderOf.has(subscription)) holderOf.set(subscription, instanceId)
  return { holderOf, silentHolders }
}

/** Whether the look shows that `instanceId` holds something, as far as a name that may be cut can tell. */
export function mayHoldAnything({ observation, instances }: ClusterView): (instanceId: string) => boolean {
  const holders = new Set(observation?.holders.values())
  const known = new Set(instances.map(({ instanceId }) => instanceId))
  const beginnings = [...holders].filter((holder) => !known.has(holder) && mayBeCut(holder))
  return (instanceId) => holders.has(instanceId) || beginnings.some((beginning) => instanceId.startsWith(beginning))
}

function groupByHolder(
  observation: Observation | null,
  instances: readonly InstanceView[],
  assigned: ReadonlyMap<string, string>,
): Map<string, string[]> {
  const known = new Map(instances.map((instance) => [instance.instanceId, instance]))
  const candidates = new Map<string, readonly InstanceView[]>()
  const groups = new Map<string, string[]>()
  for (const [subscription, holder] of observation?.holders ?? []) {
    if (!known.has(holder) && !candidates.has(holder)) {
      candidates.set(holder, mayBeCut(holder) ? instances.filter(({ instanceId }) => instanceId.startsWith(holder)) : [])
    }
    const instanceId = known.has(holder)
      ? holder
      : (fullIdOf(subscription, candidates.get(holder) ?? [], assigned.get(subscription)) ?? holder)
    const group = groups.get(instanceId)
    if (group) group.push(subscription)
    else groups.set(instanceId, [subscription])
  }
  return groups
}

/**
 * A backend may cut a long id: the only known one that begins like it is meant, or the only one present that lists the subscription, or that was told
 * to run it; one that is gone only when nobody present comes into question, since its last words list what others have taken over.
 */
function fullIdOf(subscription: string, candidates: readonly InstanceView[], assignee: string | undefined): string | undefined {
  if (candidates.length <= 1) return candidates[0]?.instanceId
  const listing = candidates.filter(({ subscriptions }) => subscriptions.includes(subscription))
  const present = listing.filter(isPresent)
  if (present.length === 1) return present[0]?.instanceId
  if (candidates.some((candidate) => candidate.instanceId === assignee && isPresent(candidate))) return assignee
  return listing.length === 1 ? listing[0]?.instanceId : undefined
}

/** Whether an instance is there, as far as messages tell: it may run something. */
export function isPresent({ status }: Pick<InstanceView, 'status'>): boolean {
  return status === 'healthy' || status === 'draining'
}

// Backends have room for several dozen bytes: what is shorter is the whole id of somebody who is not known (w1, where w10 is).
const SHORTEST_CUT_BYTES = 48

function mayBeCut(holder: string): boolean {
  // As large as any encoding that a backend may use.
  return encodeURIComponent(holder).length >= SHORTEST_CUT_BYTES
}
