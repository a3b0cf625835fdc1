import type { HistoryEvent } from './history-event.js'
import type { HistoryCheckOptions } from './history-options.js'

/** What a history of the correct cluster keeps to. */
export const CLUSTER_BOUNDS: HistoryCheckOptions = {
  maxSecondsWithoutOwner: 3,
  maxSecondsWithoutLeader: 3,
  changeLastsSeconds: 4,
  subscriptions: ['s0', 's1', 's2'],
}

/** What the correct cluster goes by. A claim is trusted for less time than the server keeps it. */
export const TIMES = { trustSeconds: 1, leaseSeconds: 1.5, renewalSeconds: 0.3, quietSeconds: 12 }

/** An instance of the correct cluster. */
export interface Member {
  readonly id: string
  state: 'up' | 'down' | 'paused'
  since: number
  trustedUntil: number
  renewedAt: number
  term: bigint | null
  readonly claims: Map<string, bigint>
  readonly runs: Map<string, bigint>
}

/** Leadership (without a name), or a subscription. */
export interface Resource {
  readonly name: string | null
  holder: Member | null
  freeSince: number
  position: number
  storedToken: bigint
  /** Until when it may be given away once. */
  movableUntil: number
}

/** An event before it is stamped; what else belongs to it depends on its type. */
export type Unstamped = { readonly type: HistoryEvent['type'] } & Readonly<Record<string, unknown>>

export function newResource(name: string | null): Resource {
  return { name, holder: null, freeSince: 0, position: 0, storedToken: 0n, movableUntil: 0 }
}

export function newMember(id: string): Member {
  return { id, state: 'down', since: -1, trustedUntil: 0, renewedAt: 0, term: null, claims: new Map(), runs: new Map() }
}
