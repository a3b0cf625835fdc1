import type { LeaderElector, Logger } from '@es/coordination-core'

/** One election, freshly opened for one case. A world may add whatever its powers need to get at. */
export interface LeaderElectorElection {
  /** Two electors of one election, with different identities, that nothing else takes part in. Neither leads yet. */
  readonly contenders: readonly [LeaderElector, LeaderElector]
  /** Ends both electors and what was opened for them. Called once, also after a case that failed in the middle. */
  close(): Promise<void>
}

/** What an adapter's author provides so that the suite can test the adapter. */
export interface LeaderElectorWorld<Election extends LeaderElectorElection = LeaderElectorElection> {
  /** Name of the elector, for the output. */
  readonly name: string
  /**
   * Opens a new election: called once for every case, with several open at a time only if the runner runs cases in parallel.
   *
   * @param tools.logger to be given to the electors; it records instead of printing what the cases provoke.
   */
  open(tools: { readonly logger: Logger }): Promise<Election>
  /**
   * How long one step may take, in seconds, before its case fails: an answer of the backend, or an effect that follows by itself. Too short
   * a time fails on a slow machine; a long one costs only failing cases their time.
   * @default 2
   */
  readonly patienceSeconds?: number
  /** What this elector can do beyond the contract, and what can be done to it. Cases for what is left out are skipped visibly. */
  readonly powers?: LeaderElectorPowers<Election>
}

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
