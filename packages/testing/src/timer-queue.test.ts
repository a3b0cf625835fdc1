import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { TimerQueue } from './timer-queue.js'

type Action =
  | { readonly type: 'add'; readonly at: number }
  | { readonly type: 'cancel'; readonly which: number }
  | { readonly type: 'take'; readonly by: number }

const instant = fc.integer({ min: 0, max: 5 })
const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 5, arbitrary: fc.oneof(instant, fc.constant(Number.POSITIVE_INFINITY)).map((at): Action => ({ type: 'add', at })) },
  { weight: 3, arbitrary: fc.nat(200).map((which): Action => ({ type: 'cancel', which })) },
  { weight: 3, arbitrary: instant.map((by): Action => ({ type: 'take', by })) },
)

/** What comes out of a queue, and how many are left after each action. */
function play(actions: readonly Action[]): { readonly taken: readonly (number | null)[]; readonly sizes: readonly number[] } {
  const queue = new TimerQueue()
  const cancels: (() => void)[] = []
  const taken: (number | null)[] = []
  const sizes = actions.map((each) => {
    if (each.type === 'add') {
      const id = cancels.length
      cancels.push(queue.add(each.at, () => taken.push(id)))
    } else if (each.type === 'cancel') {
      cancels[each.which]?.()
    } else {
      const due = queue.takeDue(each.by)
      if (due === null) taken.push(null)
      else due.callback()
    }
    return queue.size
  })
  return { taken, sizes }
}

/** The same, the slow way. */
function playSimply(actions: readonly Action[]): ReturnType<typeof play> {
  let set: { readonly id: number; readonly at: number }[] = []
  let added = 0
  const taken: (number | null)[] = []
  const sizes = actions.map((each) => {
    if (each.type === 'add') set.push({ id: added++, at: each.at })
    else if (each.type === 'cancel') set = set.filter(({ id }) => id !== each.which)
    else {
      const [first] = set.filter(({ at }) => at <= each.by).sort((one, other) => one.at - other.at || one.id - other.id)
      taken.push(first?.id ?? null)
      set = set.filter((timer) => timer !== first)
    }
    return set.length
  })
  return { taken, sizes }
}

it('timers come out by the time they are due, then in the order in which they were set, and never once cancelled', () => {
  const same = fc.property(fc.array(action, { maxLength: 400, size: 'max' }), (actions) => {
    expect(play(actions)).toEqual(playSimply(actions))
  })
  void fc.assert(same, { seed: 1, numRuns: 100 })
})
