import { type AssignmentPlan, type AssignmentPlannerInput, stickyPlanner } from '@es/coordination-core'
import { alternate } from '../alternate.js'
import type { BenchmarkGroup, Measurement } from '../benchmark.js'
import { IN_PROCESS_TOLERANCE } from '../regression-check.js'
import { shuffled } from '../shuffled.js'
import { medianBelowSeconds } from '../targets.js'

const SUBSCRIPTIONS = 100_000
const INSTANCES = 1000
const ROUNDS = 7

// In no order: sorted names would spare the planner its sorting.
const names = shuffled(
  Array.from({ length: SUBSCRIPTIONS }, (_, index) => `subscription-${index}`),
  1,
)
const ids = shuffled(
  Array.from({ length: INSTANCES }, (_, index) => `instance-${index}`),
  2,
)
const subscriptions = names.map((name) => ({ name }))

function inputFor(instances: readonly string[], current: ReadonlyMap<string, string>): AssignmentPlannerInput {
  return { subscriptions, instances: instances.map((instanceId) => ({ instanceId })), current }
}

/** The least that any planner does: it deals the sorted names out in turn, and remembers nothing. */
function dealOut({ subscriptions: all, instances }: AssignmentPlannerInput): ReadonlyMap<string, readonly string[]> {
  const hands = instances.map((): string[] => [])
  const sorted = all.map(({ name }) => name).sort()
  sorted.forEach((name, index) => void hands[index % hands.length]?.push(name))
  return new Map(instances.map(({ instanceId }, index) => [instanceId, hands[index] ?? []]))
}

/** Plans `input` again and again; all plans are the same, so one is looked at. */
async function plan(input: AssignmentPlannerInput, fewestMoves: number): Promise<Measurement> {
  let made: AssignmentPlan | undefined
  const seconds = (work: () => unknown): number => {
    const startedAt = performance.now()
    work()
    return (performance.now() - startedAt) / 1000
  }
  const measured = (): number =>
    seconds(() => {
      made = stickyPlanner(input)
    })
  const figures = await alternate(ROUNDS, measured, () => seconds(() => dealOut(input)), 2)
  const sizes = [...(made?.assignments.values() ?? [])].map(({ length }) => length)
  return {
    unit: 'duration',
    ...figures,
    facts: {
      'fewest possible moves': made?.moves.length === fewestMoves,
      'sizes within one': Math.max(...sizes) - Math.min(...sizes) <= 1 && sizes.reduce((sum, size) => sum + size, 0) === SUBSCRIPTIONS,
    },
  }
}

export const planner: BenchmarkGroup = {
  name: 'planner',
  benchmarks: [
    {
      name: 'from-nothing',
      what: 'plan 100,000 subscriptions on 1,000 instances, from nothing',
      beside: 'sort the names and deal them out in turn',
      targets: [medianBelowSeconds(0.4)],
      tolerance: IN_PROCESS_TOLERANCE,
      run: () => plan(inputFor(ids, new Map()), SUBSCRIPTIONS),
    },
    {
      name: 'one-left',
      what: 'the same after one instance left',
      beside: 'sort the names and deal them out in turn',
      targets: [medianBelowSeconds(0.2)],
      tolerance: IN_PROCESS_TOLERANCE,
      run() {
        const { assignments } = stickyPlanner(inputFor(ids, new Map()))
        const current = new Map(
          shuffled(
            [...assignments].flatMap(([id, owned]) => owned.map((name) => [name, id] as const)),
            3,
          ),
        )
        const [left = '', ...stayed] = ids
        return plan(inputFor(stayed, current), assignments.get(left)?.length ?? 0)
      },
    },
  ],
}
