import { type Clock, systemClock } from './clock.js'
import { type LeaderElector, missingLeaderElectorMembers } from './leader-elector.js'
import { consoleLogger, type Logger, safeLogger } from './logger.js'
import { invalidOption, requireInteger, requireName, requireOrder, requireSeconds } from './options.js'
import type { PeerTableOptions } from './peer-table.js'

/** What a `WorkRedistributionCoordinator` is made of. */
export interface WorkRedistributionCoordinatorOptions {
  /** Names this instance; messages that bear it are taken for its own. Unique among the running instances. */
  readonly instanceId: string
  /** Whose `isLeader` heartbeats repeat, and what `initiateLeadershipHandoff()` releases. */
  readonly leaderElector?: LeaderElector | undefined
  /**
   * A peer not heard for longer than this is stale. Short: a crash is noticed sooner; long: a pause or a lost message or two does no harm.
   * Several heartbeat intervals.
   * @default 15
   */
  readonly heartbeatTimeoutSeconds?: number | undefined
  /**
   * Names this run of the instance: a new value in every process, such as a UUID. With it, messages carry it and a sequence, and others
   * tell a restart from a late message at once.
   * @default none, as the reference
   */
  readonly incarnation?: string | undefined
  /**
   * How long a gone peer is remembered: since it was last heard if it is stale, since the end of its drain if it is terminated. Not
   * shorter than `heartbeatTimeoutSeconds`. Also how long the old messages of a removed peer are recognised.
   * @default 10 * heartbeatTimeoutSeconds
   */
  readonly peerRetentionSeconds?: number | undefined
  /**
   * Longest drain that a peer is granted, whatever it announces.
   * @default 3600
   */
  readonly maxDrainSeconds?: number | undefined
  /**
   * Most peers that are remembered. When full, the peer that is gone longest makes room, with whatever it left unclaimed; if none is
   * gone, a new peer is refused.
   * @default 100_000
   */
  readonly maxPeers?: number | undefined
  /** @default systemClock */
  readonly clock?: Clock | undefined
  /** @default consoleLogger */
  readonly logger?: Logger | undefined
}

/** The options with their defaults, checked. */
export interface ParsedCoordinatorOptions extends PeerTableOptions {
  readonly instanceId: string
  readonly incarnation: string | undefined
  readonly leaderElector: LeaderElector | undefined
  readonly clock: Clock
  /** Never throws. */
  readonly logger: Logger
}

/** @throws CoordinationError `invalid_options` naming the option, its value and the rule. */
export function parseCoordinatorOptions(options: WorkRedistributionCoordinatorOptions): ParsedCoordinatorOptions {
  const { instanceId, incarnation, leaderElector, clock = systemClock, logger = consoleLogger } = options
  const heartbeatTimeoutSeconds = requireSeconds('heartbeatTimeoutSeconds', options.heartbeatTimeoutSeconds ?? 15)
  const peerRetentionSeconds = requireSeconds('peerRetentionSeconds', options.peerRetentionSeconds ?? 10 * heartbeatTimeoutSeconds)
  requireOrder(
    { name: 'heartbeatTimeoutSeconds', value: heartbeatTimeoutSeconds },
    { name: 'peerRetentionSeconds', value: peerRetentionSeconds },
    { orEqual: true },
  )
  if (leaderElector !== undefined) {
    const missing = missingLeaderElectorMembers(leaderElector)
    if (missing.length > 0) throw invalidOption('leaderElector', leaderElector, `a LeaderElector, and lacks ${missing.join(', ')}`)
  }
  return {
    instanceId: requireName('instanceId', instanceId),
    incarnation: incarnation === undefined ? undefined : requireName('incarnation', incarnation),
    leaderElector,
    heartbeatTimeoutSeconds,
    peerRetentionSeconds,
    maxDrainSeconds: requireSeconds('maxDrainSeconds', options.maxDrainSeconds ?? 3600, { atLeast: 0 }),
    maxPeers: requireInteger('maxPeers', options.maxPeers ?? 100_000, { atLeast: 1 }),
    clock,
    logger: safeLogger(logger),
  }
}
