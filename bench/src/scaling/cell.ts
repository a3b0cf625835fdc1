/** Who hears a heartbeat: `all`, as it is · `leader`: the leader alone, and everybody that of the leader; an experiment. */
export type Hearing = 'all' | 'leader'

/** One size of cluster. */
export interface Cell {
  readonly instances: number
  readonly subscriptions: number
  readonly hearing: Hearing
}

/** What one size of cluster costs. */
export interface CellFigures {
  /** Of the whole cluster, a second, while nothing changes. */
  readonly steady: SteadyFigures
  /** Seconds until the last run that follows from it has begun or ended. */
  readonly stable: StableFigures
  /** Of one instance that follows, and of the one that leads. */
  readonly follower: InstanceCost
  readonly leader: InstanceCost
}

/** What goes over a transport, each in a second. */
export interface SteadyFigures {
  readonly published: number
  readonly publishedBytes: number
  /** A message that a hundred hear counts a hundred times. */
  readonly delivered: number
  readonly deliveredBytes: number
}

/** `null`: it did not become stable while it was watched. */
export interface StableFigures {
  readonly start: number | null
  readonly join: number | null
  readonly leave: number | null
  readonly crash: number | null
}

/** What one instance uses up. */
export interface InstanceCost {
  /** Of processor time, for each second. */
  readonly cpuSeconds: number
}

export function cellName({ instances, subscriptions, hearing }: Cell): string {
  return `${instances} instances, ${subscriptions} subscriptions${hearing === 'all' ? '' : ', heartbeats to the leader alone'}`
}
