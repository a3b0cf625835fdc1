import { requireFunction, requireName, requireOptions, requireSeconds } from '@es/coordination-core'
import { type PostgresLockSession, type PostgresLockSessionOptions, sessionOf } from './postgres-lock-session.js'

/** What is being led, and how it is waited for. */
export interface ElectionOptions {
  /** Name of the election. Instances that name the same election in the same database compete. */
  readonly election: string
  /**
   * Keeps elections of different applications in one database apart.
   * @default 'default'
   */
  readonly namespace?: string
  /**
   * Longest wait of a campaign between attempts while the server cannot be reached, in seconds: the first retry comes after half a second to one
   * second, later ones after up to twice as long each, jittered.
   * @default 5
   */
  readonly longestRetrySeconds?: number
  /**
   * Only with a shared session, where a campaign cannot wait inside the server without holding up everybody else on it, and asks this often instead.
   * @default 0.5
   */
  readonly pollSeconds?: number
  /**
   * Jitter, in [0, 1).
   * @default Math.random
   */
  readonly random?: () => number
}

/** How a `PostgresLeaderElector` is set up: with a lock session of its own, or with one that is shared. */
export type PostgresLeaderElectorOptions = ElectionOptions & (PostgresLockSessionOptions | { readonly session: PostgresLockSession })

/** The options with their defaults, checked. */
export interface ParsedElectorOptions extends Required<ElectionOptions> {
  readonly session: PostgresLockSession
  /** Whether the session was handed in, so that it is used by others and closed by whoever made it. */
  readonly isShared: boolean
}

/** @throws CoordinationError `invalid_options` naming the option, its value and the rule. */
export function parseElectorOptions(options: PostgresLeaderElectorOptions): ParsedElectorOptions {
  return {
    election: requireName('election', requireOptions(options).election),
    namespace: requireName('namespace', options.namespace ?? 'default'),
    longestRetrySeconds: requireSeconds('longestRetrySeconds', options.longestRetrySeconds ?? 5, { above: 0, atMost: 3600 }),
    pollSeconds: requireSeconds('pollSeconds', options.pollSeconds ?? 0.5, { above: 0, atMost: 60 }),
    random: requireFunction('random', options.random ?? Math.random),
    isShared: 'session' in options,
    session: sessionOf(options),
  }
}
