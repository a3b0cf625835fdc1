/** One sentence of a contract, and how to find out whether it holds. */
export interface CaseDefinition<Stage, Power> {
  readonly name: string
  /** Powers that the case cannot do without. */
  readonly needs?: readonly Power[]
  /** Time that the case takes by its nature, in seconds, on top of its steps; `leaseSeconds` is 0 where the world declares no lease. */
  readonly lasts?: (leaseSeconds: number) => number
  run(stage: Stage): Promise<void>
}

/** Cases that belong together in the output. */
export interface CaseGroup<Stage, Power> {
  readonly name: string
  readonly cases: readonly CaseDefinition<Stage, Power>[]
}
