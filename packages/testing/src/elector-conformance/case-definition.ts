import type { LeaderElectorPower } from './leader-elector-world.js'
import type { Stage } from './stage.js'

/** One sentence of the contract, and how to find out whether it holds. */
export interface CaseDefinition {
  readonly name: string
  /** Powers that the case cannot do without. */
  readonly needs?: readonly LeaderElectorPower[]
  /** Time that the case takes by its nature, in seconds, on top of its steps. */
  readonly lasts?: (leaseSeconds: number) => number
  run(stage: Stage): Promise<void>
}

/** Cases that belong together in the output. */
export interface CaseGroup {
  readonly name: string
  readonly cases: readonly CaseDefinition[]
}
