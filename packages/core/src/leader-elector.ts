import { lacksMembers } from './options.js'

/** Told `true` when leadership is gained and `false` when it is lost; awaited before the next callback runs. */
export type LeaderChangeCallback = (isLeader: boolean) => Promise<void> | void

/** How {@link LeaderElector.tryAcquire} asks. */
export interface TryAcquireOptions {
  /**
   * Bounds the call to the backend, in seconds; it is *not* a wait for leadership to become free.
   * @default 10
   */
  readonly timeoutSeconds?: number
  /** Gives the attempt up early; the call rejects with the signal's reason. */
  readonly signal?: AbortSignal
}

/**
 * Picks one leader among the instances of an election. The contract of the reference library's `LeaderElector` protocol, in camelCase.
 *
 * What it promises, and what it does not: `isLeader` is this instance's own view. Whether two instances can hold it at one
 * instant depends on the adapter, and every adapter says so in its own documentation.
 *
 * All members may be called concurrently, and from inside a leader-change callback.
 */
export interface LeaderElector {
  /** Name of this instance, unique within the election. Never changes. */
  readonly identity: string
  /**
   * Whether this instance leads now, without asking the backend. An elector with a lease answers `false` from the moment its
   * lease can no longer be trusted, even if nothing has run since.
   */
  readonly isLeader: boolean
  /** Identity of the leader as far as this instance knows, `null` when there is none. May be as old as the adapter's last look. */
  readonly currentLeader: string | null
  /**
   * One attempt that does not wait for leadership to become free. `true` when this instance leads at the end, also when it already led
   * before (no callback is called then); `false` when another one leads. The callbacks of a change have run when it settles, unless
   * it was called while callbacks were running.
   *
   * @throws ConnectionError when the backend could not be asked in time.
   */
  tryAcquire(options?: TryAcquireOptions): Promise<boolean>
  /**
   * Gives leadership up. Does nothing when this instance does not lead. The leader's work should have stopped before: a rival may
   * lead as soon as this call reaches the backend.
   *
   * @throws ConnectionError when the backend could not be told. Leadership is given up here all the same, and ends in the backend
   * with the lease or the connection.
   */
  release(): Promise<void>
  /**
   * Extends the lease and checks that the backend still agrees. `false` when this instance does not lead (any more), in which
   * case the callbacks are told. Never rejects for backend trouble: a lease that could not be renewed answers `false`.
   */
  renew(): Promise<boolean>
  /** Registers `callback` for changes from now on; it is not told about the present state. Callbacks run in registration order. */
  onLeaderChange(callback: LeaderChangeCallback): void
  /** Removes one registration of `callback`; `false` when there is none, so removing twice is harmless. */
  removeLeaderChangeCallback(callback: LeaderChangeCallback): boolean
}

/** An elector that numbers its terms. */
export interface FencedLeaderElector extends LeaderElector {
  /**
   * Number of the present term, strictly larger than that of every earlier term of any instance; `null` when this instance does not
   * lead. Store it with what the leader writes and refuse a smaller one: that is what stops a leader that was paused inside a write.
   */
  readonly fencingToken: bigint | null
}

/** An elector that can wait for leadership. */
export interface CampaigningLeaderElector extends LeaderElector {
  /**
   * Waits until this instance leads, through any number of backend failures, and resolves once it does and its callbacks were
   * told; at once when it leads already. Call it again after a loss.
   *
   * @throws the signal's reason as soon as `signal` aborts. Nothing is held then.
   * @throws ConnectionError when the backend is unfit in a way that waiting does not mend.
   */
  campaign(options?: { readonly signal?: AbortSignal }): Promise<void>
}

const PROPERTIES = ['identity', 'isLeader', 'currentLeader'] as const
const METHODS = ['tryAcquire', 'release', 'renew', 'onLeaderChange', 'removeLeaderChangeCallback'] as const

/**
 * The names of the members that `value` lacks to be a {@link LeaderElector}, in the order of the contract; empty when it has all. Like the
 * reference's `isinstance` check it looks at presence only, not at signatures or behaviour: the conformance suite does that.
 */
export function missingLeaderElectorMembers(value: unknown): string[] {
  const members: Record<string, unknown> = value !== null && typeof value === 'object' ? (value as Record<string, unknown>) : {}
  return [...PROPERTIES.filter((name) => !(name in members)), ...METHODS.filter((name) => typeof members[name] !== 'function')]
}

/**
 * Checks an option that is a leader elector, and returns it. Presence of members only, see {@link missingLeaderElectorMembers}.
 *
 * @throws CoordinationError `invalid_options` naming what it lacks.
 */
export function requireLeaderElector(name: string, value: LeaderElector): LeaderElector {
  const missing = missingLeaderElectorMembers(value)
  if (missing.length === 0) return value
  throw lacksMembers(name, value, 'a LeaderElector', missing)
}

/** Whether `value` has every member of {@link LeaderElector}. Presence only, see {@link missingLeaderElectorMembers}. */
export function isLeaderElector(value: unknown): value is LeaderElector {
  return missingLeaderElectorMembers(value).length === 0
}
