import type { Ownership } from '@es/coordination-core'
import type { Closable, ConformanceWorld } from '../conformance/conformance-world.js'

/** One backend, freshly opened for one case. A world may add whatever its powers need to get at. */
export interface OwnershipContest extends Closable {
  /** Two that compete for the same subscriptions, with different and short instance ids; nobody else does. Neither holds anything yet. */
  readonly contenders: readonly [Ownership, Ownership]
}

/** What the author of an ownership provides so that the suite can test it: `open` opens a new contest. */
export type OwnershipWorld<Contest extends OwnershipContest = OwnershipContest> = ConformanceWorld<Contest, OwnershipPowers<Contest>>

/** Optional abilities of an ownership and of its world; whatever is declared is tested. */
export interface OwnershipPowers<Contest extends OwnershipContest = OwnershipContest> {
  /** The backend can tell who holds a subscription: a denied claim names its holder. */
  readonly namesHolders?: true
  /** A batch of this many subscriptions, all free, is refused with `too_many_claims`. Half of it is not. */
  readonly refusesBatchOf?: number
  /** Takes all claims away behind the back of `owner`, as an administrator or a restart of the backend does. The backend stays reachable. */
  readonly loseClaims?: (contest: Contest, owner: Ownership) => Promise<void>
  /** Ends the connection of `owner` alone, and keeps it from connecting again until the returned function is called. */
  readonly disconnect?: (contest: Contest, owner: Ownership) => Promise<() => Promise<void>>
  /** Makes the backend accept requests without answering any, to both contenders. The returned function makes it answer again. */
  readonly hang?: (contest: Contest) => Promise<() => Promise<void>>
  /** Claims end by themselves when their owner is not heard from. */
  readonly leaseExpiry?: {
    /** Longest time from the last successful renewal to the moment when a rival can claim. Choose a short lease for the tests. */
    readonly leaseSeconds: number
    /** Cuts `owner` alone off from the backend, so that it can neither renew nor be told. The returned function ends that. */
    readonly cutOff: (contest: Contest, owner: Ownership) => Promise<() => Promise<void>>
  }
  /** Ends one ownership for good, by a method that the contract does not have. */
  readonly close?: (contest: Contest, owner: Ownership) => Promise<void>
}

/** Name of an optional ability. */
export type OwnershipPower = keyof OwnershipPowers
