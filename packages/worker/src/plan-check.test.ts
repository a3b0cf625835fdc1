import { type AssignmentPlan, type AssignmentPlannerInput, stickyPlanner } from '@es/coordination-core'
import { expect, it } from 'vitest'
import { checkPlan } from './plan-check.js'

const INPUT: AssignmentPlannerInput = {
  subscriptions: [{ name: 's1' }, { name: 's2' }, { name: 's3' }],
  instances: [{ instanceId: 'a' }, { instanceId: 'b', mayRun: (name) => name !== 's1' }],
  current: new Map([['s3', 'b']]),
  pinned: new Map([['s3', 'b may come back']]),
}
const PLAN: AssignmentPlan = stickyPlanner(INPUT)

const plan = (changes: Record<string, unknown>): unknown => ({ ...PLAN, ...changes })
const assign = (sets: Record<string, unknown>): unknown => plan({ assignments: new Map(Object.entries(sets)), unassigned: [] })

it('takes what keeps the rules as it is', () => {
  expect(checkPlan(PLAN, INPUT)).toBe(PLAN)
  expect(() => checkPlan(assign({ a: ['s1', 's2'], b: ['s3'] }), INPUT)).not.toThrow()
  // Whoever gets nothing may be left out, and a pinned one may be in the set of its owner or not.
  expect(() => checkPlan(assign({ a: ['s1', 's2'] }), INPUT)).not.toThrow()
})

it.each([
  ['an instance that is not there', assign({ a: ['s1', 's2'], x: [] }), 'puts work on "x", which is no instance'],
  ['a subscription that is not there', assign({ a: ['s1', 's2', 'x'] }), 'puts "x" on "a", which is no subscription'],
  ['what is no name', assign({ a: ['s1', 's2', 7] }), 'puts 7 on "a", which is no subscription'],
  ['a subscription twice', assign({ a: ['s1', 's2'], b: ['s2'] }), 'puts "s2" on "b" and on "a"'],
  ['a subscription twice on one instance', assign({ a: ['s1', 's2', 's2'] }), 'puts "s2" on "a" and on "a"'],
  [
    'one that is also unassigned',
    plan({ unassigned: [{ subscription: 's1', reason: 'no_capacity' }] }),
    'puts "s1" among the unassigned and on "a"',
  ],
  ['an instance that may not run it', assign({ b: ['s1', 's2'] }), 'puts "s1" on "b", which may not run it'],
  ['another than the one that it is pinned to', assign({ a: ['s1', 's2', 's3'] }), 'puts "s3" on "a", but that is pinned to "b"'],
  ['none', assign({ a: ['s1'] }), 'forgets "s2"'],
  ['what is pinned by nobody', plan({ pinned: [{ subscription: 's1' }] }), 'puts "s1" among the pinned, which it is not'],
  ['no list', assign({ a: 's1' }), 'what it puts on "a" is "s1" and not a list of names'],
  ['no map', plan({ assignments: { a: ['s1'] } }), 'its assignments are a value of type object and not a Map'],
  ['no moves', plan({ moves: undefined }), 'its moves are undefined and not a list of objects'],
  ['moves of nothing', plan({ moves: [null] }), 'its moves are an array and not a list of objects'],
  ['nothing', undefined, 'it is undefined and not an object'],
  ['a promise', Promise.resolve(PLAN), 'it is a promise: a planner decides at once'],
])('refuses a plan that gives %s', (_name, given, why) => {
  expect(() => checkPlan(given, INPUT)).toThrow(
    expect.objectContaining({ code: 'invalid_plan', message: expect.stringContaining(`The planner's plan cannot be used: `) }),
  )
  expect(() => checkPlan(given, INPUT)).toThrow(why)
})

it('lets no promise that a planner returned end the process', async () => {
  expect(() => checkPlan(Promise.reject(new Error('late')), INPUT)).toThrow('it is a promise')
  // An unhandled rejection is told in a later turn of the event loop.
  await new Promise((resolve) => setImmediate(resolve))
})
