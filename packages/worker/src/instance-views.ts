import type { WorkRedistributionCoordinator } from '@es/coordination-core'
import { type InstanceView, isPresent } from './cluster-view.js'

/** What decides about a peer: claims, where the cluster has any, or its own words. */
export interface Trust {
  readonly ownership: object | null
  /** Whether one that sends no incarnation is believed; the reference library sends none, and knows no claims. */
  readonly trustsClaimlessPeers: boolean
}

/** The peers as the leader plans with them. */
export function viewPeers(coordinator: WorkRedistributionCoordinator, trust: Trust): InstanceView[] {
  return [...coordinator.knownPeers.values()].map(({ instanceId, status, heardAtSeconds, lastHeartbeat, incarnation }) => ({
    instanceId,
    status,
    heardAt: heardAtSeconds,
    subscriptions: lastHeartbeat?.subscriptions ?? [],
    usesClaims: usesClaims(incarnation, trust),
    capacity: lastHeartbeat?.capacity,
    declined: new Set(lastHeartbeat?.declined),
  }))
}

/** Everything that peers who are present run without a claim on it. */
export function namesRunByPeers(coordinator: WorkRedistributionCoordinator, trust: Trust): ReadonlySet<string> {
  const names = new Set<string>()
  for (const { status, incarnation, lastHeartbeat } of coordinator.knownPeers.values()) {
    if (usesClaims(incarnation, trust) || !isPresent({ status })) continue
    for (const name of lastHeartbeat?.subscriptions ?? []) names.add(name)
  }
  return names
}

function usesClaims(incarnation: string | null, { ownership, trustsClaimlessPeers }: Trust): boolean {
  return ownership !== null && (incarnation !== null || !trustsClaimlessPeers)
}
