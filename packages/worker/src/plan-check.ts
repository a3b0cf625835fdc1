import { type AssignmentPlan, type AssignmentPlannerInput, CoordinationError, describeValue } from '@es/coordination-core'

/**
 * Makes sure that a planner, which may be the user's, did its job: every subscription in exactly one place, with an instance that is there and may run it.
 *
 * @throws CoordinationError `invalid_plan` that says what is off.
 */
export function checkPlan(plan: unknown, input: AssignmentPlannerInput): AssignmentPlan {
  const { assignments, unassigned, pinned } = requireShape(plan)
  const places = new Map<string, string>()
  const known = new Set(input.subscriptions.map(({ name }) => name))
  const place = (subscription: unknown, where: string): void => {
    if (!known.has(subscription as string)) refuse(`it puts ${describeValue(subscription)} ${where}, which is no subscription`)
    const other = places.get(subscription as string)
    if (other !== undefined) refuse(`it puts ${describeValue(subscription)} ${where} and ${other}`)
    places.set(subscription as string, where)
  }

  const instances = new Map(input.instances.map((instance) => [instance.instanceId, instance]))
  for (const [instanceId, subscriptions] of assignments) {
    const instance = instances.get(instanceId)
    const where = `on ${describeValue(instanceId)}`
    if (instance === undefined) refuse(`it puts work ${where}, which is no instance that may be given any now`)
    if (!Array.isArray(subscriptions)) refuse(`what it puts ${where} is ${describeValue(subscriptions)} and not a list of names`)
    for (const subscription of subscriptions) {
      place(subscription, where)
      if (input.pinned?.has(subscription)) {
        const owner = input.current.get(subscription)
        if (owner !== instanceId) refuse(`it puts ${describeValue(subscription)} ${where}, but that is pinned to ${describeValue(owner)}`)
      } else if (instance?.mayRun?.(subscription) === false) {
        refuse(`it puts ${describeValue(subscription)} ${where}, which may not run it`)
      }
    }
  }
  for (const { subscription } of unassigned) place(subscription, 'among the unassigned')
  for (const { subscription } of pinned) {
    if (!input.pinned?.has(subscription)) refuse(`it puts ${describeValue(subscription)} among the pinned, which it is not`)
    // A pinned one is in the set of its owner too, where that is listed.
    if (!places.has(subscription)) place(subscription, 'among the pinned')
  }
  const forgotten = input.subscriptions.find(({ name }) => !places.has(name))
  if (forgotten !== undefined) refuse(`it forgets ${describeValue(forgotten.name)}: what nobody can own goes among the unassigned`)
  return plan as AssignmentPlan
}

function requireShape(plan: unknown): AssignmentPlan {
  if (plan instanceof Promise) {
    // Nobody waits for it.
    plan.catch(() => {})
    refuse('it is a promise: a planner decides at once')
  }
  if (typeof plan !== 'object' || plan === null) refuse(`it is ${describeValue(plan)} and not an object`)
  const { assignments, ...lists } = plan as Partial<AssignmentPlan>
  if (!(assignments instanceof Map)) refuse(`its assignments are ${describeValue(assignments)} and not a Map`)
  for (const name of ['moves', 'unassigned', 'pinned'] as const) {
    const list: unknown = lists[name]
    const isList = Array.isArray(list) && list.every((entry: unknown) => typeof entry === 'object' && entry !== null)
    if (!isList) refuse(`its ${name} are ${describeValue(list)} and not a list of objects`)
  }
  return plan as AssignmentPlan
}

function refuse(why: string): never {
  throw new CoordinationError('invalid_plan', `The planner's plan cannot be used: ${why}`)
}
