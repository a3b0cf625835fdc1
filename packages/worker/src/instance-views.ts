import type { PeerInfo, WorkRedistributionCoordinator } from '@es/coordination-core'
import type { InstanceView } from './cluster-view.js'

/** The peers as the leader plans with them. `hasOwnership`: whether this cluster has claims at all. */
export function viewPeers(coordinator: WorkRedistributionCoordinator, hasOwnership: boolean): InstanceView[] {
  return [...coordinator.knownPeers.values()].map(({ instanceId, status, heardAtSeconds, lastHeartbeat, incarnation }) => ({
    instanceId,
    status: status === 'unknown' ? 'stale' : status,
    heardAt: heardAtSeconds,
    subscriptions: lastHeartbeat?.subscriptions ?? [],
    // The reference library sends no incarnation, and knows no claims.
    usesClaims: hasOwnership && incarnation !== null,
    capacity: lastHeartbeat?.capacity,
    declined: new Set(lastHeartbeat?.declined),
  }))
}

/** Whether a peer that is present runs `subscription` without a claim on it. */
export function isRunByPeer(coordinator: WorkRedistributionCoordinator, subscription: string, hasOwnership: boolean): boolean {
  for (const peer of coordinator.knownPeers.values()) {
    if (hasOwnership && peer.incarnation !== null) continue
    if (isPresent(peer) && peer.lastHeartbeat?.subscriptions.includes(subscription)) return true
  }
  return false
}

function isPresent({ status }: PeerInfo): boolean {
  return status === 'healthy' || status === 'draining'
}
