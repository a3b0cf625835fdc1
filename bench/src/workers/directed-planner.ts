import { type AssignmentPlanner, stickyPlanner } from '@es/coordination-core'

/** The default planner, until it is told whom to give everything to. */
export class DirectedPlanner {
  /** An instance id; `null` leaves it to the default planner. */
  target: string | null = null

  readonly plan: AssignmentPlanner = (input) => {
    const chosen = input.instances.filter(({ instanceId }) => instanceId === this.target)
    if (chosen.length === 0) return stickyPlanner(input)
    const plan = stickyPlanner({ ...input, instances: chosen })
    const nothing = input.instances.map(({ instanceId }) => [instanceId, []] as const)
    return { ...plan, assignments: new Map([...nothing, ...plan.assignments]) }
  }
}
