/** What a fault does its harm to. */
type FaultScope =
  /** One process; its connections stay as they are. */
  | 'process'
  /** The network between one process and the server. */
  | 'link'
  /** A worker that is there and connected: nobody else may hear of the end of a session before its holder. */
  | 'session'
  /** The server, and so everybody. */
  | 'server'
  /** One process after the other. */
  | 'all'

/** How one kind of fault is planned. */
export interface FaultKind {
  readonly scope: FaultScope
  /** For people, and the `kind` of the event in the history. */
  readonly title: string
  /** How long it lasts, in leases; `null` for what is over as soon as it happened. */
  readonly leases: readonly [shortest: number, longest: number] | null
}

// Long enough for somebody else to take over meanwhile, so that the one that comes back is stale.
const ABOVE_THE_LEASE = [1.5, 3] as const
// Trust ends after two thirds of a lease, and the lease soon after: what ends before, between and after that has to happen.
const AROUND_THE_LEASE = [0.4, 2.5] as const

/** Everything that is done to the cluster. */
export const FAULT_KINDS = {
  kill: { scope: 'process', title: 'killed', leases: null },
  kill_and_rename: { scope: 'process', title: 'killed, back under a new id', leases: null },
  pause_below_lease: { scope: 'process', title: 'paused for less than a lease', leases: [0.2, 0.95] },
  pause_above_lease: { scope: 'process', title: 'paused for more than a lease', leases: ABOVE_THE_LEASE },
  pause_then_kill: { scope: 'process', title: 'paused, then killed', leases: [0.3, 1.5] },
  block: { scope: 'process', title: 'event loop blocked for more than a lease', leases: ABOVE_THE_LEASE },
  black_hole: { scope: 'link', title: 'black hole', leases: AROUND_THE_LEASE },
  requests_lost: { scope: 'link', title: 'requests lost', leases: AROUND_THE_LEASE },
  answers_lost: { scope: 'link', title: 'answers lost', leases: AROUND_THE_LEASE },
  slow_link: { scope: 'link', title: 'slow link', leases: [1, 2] },
  link_down: { scope: 'link', title: 'link down', leases: AROUND_THE_LEASE },
  connections_reset: { scope: 'session', title: 'connections reset', leases: null },
  session_ended: { scope: 'session', title: 'one session ended', leases: null },
  sessions_ended: { scope: 'session', title: 'all sessions ended', leases: null },
  restart_fast: { scope: 'server', title: 'server restart, fast', leases: null },
  restart_immediate: { scope: 'server', title: 'server restart, immediate', leases: null },
  halt: { scope: 'server', title: 'server away', leases: [0.5, 2] },
  connections_exhausted: { scope: 'server', title: 'connections exhausted', leases: [1, 2] },
  rolling_restart: { scope: 'all', title: 'rolling restart', leases: null },
} as const satisfies Readonly<Record<string, FaultKind>>

export type FaultName = keyof typeof FAULT_KINDS

export const FAULT_NAMES = Object.keys(FAULT_KINDS) as readonly FaultName[]

/** The kinds of which only one may happen at a time. */
export function isForEverybody(name: FaultName): boolean {
  const { scope } = FAULT_KINDS[name]
  return scope === 'server' || scope === 'all'
}

/** Titles of what ends sessions of one worker on the server, or in the middle of the network, without its doing. */
export const ENDS_SESSIONS: ReadonlySet<string> = new Set(
  (['connections_reset', 'session_ended', 'sessions_ended'] as const).map((name) => FAULT_KINDS[name].title),
)
