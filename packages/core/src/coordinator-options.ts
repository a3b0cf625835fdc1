import type { Clock } from './clock.js'
import { type LeaderElector, requireLeaderElector } from './leader-elector.js'
import type { Logger } from './logger.js'
import {
  invalidOption,
  requireClock,
  requireFunction,
  requireInteger,
  requireLogger,
  requireName,
  requireOptions,
  requireOrder,
  requireSeconds,
} from './options.js'
import type { PeerTableOptions } from './peer-table.js'

// Leaves room for what `OwnMessages` appends.
const LONGEST_INCARNATION = 1000

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
   * tell a restart from a late message at once. At most 1,000 characters: it is continued when this instance has to contradict somebody who
   * spoke in its name, see {@link onImpersonated}.
   * @default none, as the reference
   */
  readonly incarnation?: string | undefined
  /**
   * Called when a message in this instance's name arrived that would make its peers deaf to it: a goodbye while it stays, or a heartbeat ahead of
   * its own. Its next heartbeat contradicts it, so publish one. Only with an {@link incarnation}. Must not throw.
   * @default nothing: the next heartbeat comes by itself
   */
  readonly onImpersonated?: (() => void) | undefined
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
  /**
   * Most memory that peers may take together, in bytes, estimated from the names that they sent. Beyond it the peer that is gone longest makes room;
   * if none is gone, the one that was heard last for the first time, which may be the sender. At least 1,048,576.
   * @default 134_217_728
   */
  readonly maxPeerBytes?: number | undefined
  /** @default systemClock */
  readonly clock?: Clock | undefined
  /** @default consoleLogger */
  readonly logger?: Logger | undefined
}

/** The options with their defaults, checked. */
export interface ParsedCoordinatorOptions extends PeerTableOptions {
  readonly instanceId: string
  readonly incarnation: string | undefined
  readonly onImpersonated: () => void
  readonly leaderElector: LeaderElector | undefined
  readonly clock: Clock
  /** Never throws. */
  readonly logger: Logger
}

/** @throws CoordinationError `invalid_options` naming the option, its value and the rule. */
export function parseCoordinatorOptions(options: WorkRedistributionCoordinatorOptions): ParsedCoordinatorOptions {
  const { instanceId, incarnation, leaderElector, onImpersonated = () => {} } = requireOptions(options)
  const heartbeatTimeoutSeconds = requireSeconds('heartbeatTimeoutSeconds', options.heartbeatTimeoutSeconds ?? 15)
  const peerRetentionSeconds = requireSeconds('peerRetentionSeconds', options.peerRetentionSeconds ?? 10 * heartbeatTimeoutSeconds)
  requireOrder(
    { name: 'heartbeatTimeoutSeconds', value: heartbeatTimeoutSeconds },
    { name: 'peerRetentionSeconds', value: peerRetentionSeconds },
    { orEqual: true },
  )
  if (leaderElector !== undefined) requireLeaderElector('leaderElector', leaderElector)
  return {
    instanceId: requireName('instanceId', instanceId),
    incarnation: incarnation === undefined ? undefined : requireIncarnation(incarnation),
    onImpersonated: requireFunction('onImpersonated', onImpersonated),
    leaderElector,
    heartbeatTimeoutSeconds,
    peerRetentionSeconds,
    maxDrainSeconds: requireSeconds('maxDrainSeconds', options.maxDrainSeconds ?? 3600, { atLeast: 0 }),
    maxPeers: requireInteger('maxPeers', options.maxPeers ?? 100_000, { atLeast: 1 }),
    maxPeerBytes: requireInteger('maxPeerBytes', options.maxPeerBytes ?? 134_217_728, { atLeast: 1_048_576 }),
    clock: requireClock(options.clock),
    logger: requireLogger(options.logger),
  }
}

function requireIncarnation(incarnation: string): string {
  if (requireName('incarnation', incarnation).length <= LONGEST_INCARNATION) return incarnation
  throw invalidOption('incarnation', incarnation, `of at most ${LONGEST_INCARNATION} characters`)
}
