import type { LeaderElector } from '@es/coordination-core'
import type { Closable, ConformanceWorld } from '../conformance/conformance-world.js'

/** One election, freshly opened for one case. A world may add whatever its powers need to get at. */
export interface LeaderElectorElection extends Closable {
  /** Two electors of one election, with different identities, that nothing else takes part in. Neither leads yet. */
  readonly contenders: readonly [LeaderElector, LeaderElector]
}

/** What the author of an elector provides so that the suite can test it: `open` opens a new election. */
export type LeaderElectorWorld<Election extends LeaderElectorElection = LeaderElectorElection> = ConformanceWorld<
  Election,
  LeaderElectorPowers<Election>
>

/** Optional abilities of an elector and of its world; whatever is declared is tested. */
export interface LeaderElectorPowers<Election extends LeaderElectorElection = LeaderElectorElection> {
  /** The electors number their terms: they are `FencedLeaderElector`s. */
  readonly fencingToken?: true
  /** The electors can wait for leadership: they are `CampaigningLeaderElector`s. */
  readonly campaign?: true
  /** The electors report failing callbacks to the logger that `open` was given. */
  readonly logging?: true
  /**
   * The electors look at the backend by themselves: a follower's `currentLeader` is at most this old, in seconds, although nobody calls it.
   */
  readonly currentLeaderWithinSeconds?: number
  /** Takes leadership away behind the back of `leader`, as an administrator or a restart of the backend does. The backend stays reachable. */
  readonly loseLeadership?: (election: Election, leader: LeaderElector) => Promise<void>
  /** Makes the backend accept requests without answering any, to both contenders. The returned function makes it answer again. */
  readonly hang?: (election: Election) => Promise<() => Promise<void>>
  /** Leadership ends by itself when its holder is not heard from. */
  readonly leaseExpiry?: {
    /** Longest time from the last successful renewal to the moment when a rival can lead. Choose a short lease for the tests. */
    readonly leaseSeconds: number
    /** Cuts `leader` alone off from the backend, so that it can neither renew nor be told. The returned function ends that. */
    readonly cutOff: (election: Election, leader: LeaderElector) => Promise<() => Promise<void>>
  }
}

/** Name of an optional ability. */
export type LeaderElectorPower = keyof LeaderElectorPowers
