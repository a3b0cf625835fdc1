/** One contender for one election, whatever it is made of. */
export interface Candidate {
  /** Resolves when it leads. */
  lead(): Promise<void>
  /** Gives leadership up. */
  release(): Promise<void>
  /** Whether it believes that it leads, where it has an opinion of its own. */
  readonly isLeader?: boolean
}

/** Where candidates meet. */
export interface Meeting {
  readonly election: string
  /** Unique among the candidates of the election. */
  readonly identity: string
  /** Connection string of the server: of PostgreSQL, or of Redis. */
  readonly connection: string
}
