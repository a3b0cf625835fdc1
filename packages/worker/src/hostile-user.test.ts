import { type AssignmentPlanner, stickyPlanner } from '@es/coordination-core'
import { describe, expect, it } from 'vitest'
import { simulate } from './cluster.test.harness.js'

describe('a planner of the user that breaks its rules', () => {
  const bad: readonly (readonly [string, AssignmentPlanner])[] = [
    ['throws', () => expect.unreachable('the planner is at its end')],
    ['returns a promise', (async () => expect.unreachable()) as unknown as AssignmentPlanner],
    [
      'invents an instance',
      (input) => ({ ...stickyPlanner(input), assignments: new Map([['nobody', input.subscriptions.map(({ name }) => name)]]) }),
    ],
    [
      'gives one subscription to everybody',
      (input) => ({ ...stickyPlanner(input), assignments: new Map(input.instances.map(({ instanceId }) => [instanceId, ['s00']])) }),
    ],
  ]

  it.each(bad)(
    'stops nothing: what was assigned stands, the failure is reported, and somebody else leads when it goes on: %s',
    (_name, planner) =>
      simulate({ subscriptions: 6 }, async (cluster) => {
        let isBad = false
        await cluster.start('a', { planner: (input) => (isBad ? planner(input) : stickyPlanner(input)) })
        await cluster.start('b')
        await cluster.until(() => cluster.isBalanced)
        await cluster.pass(10)
        expect(cluster.leader?.id).toBe('a')
        const runs = cluster.recorder.runs.length
        isBad = true
        await cluster.pass(5)
        expect(cluster.log.filter(({ message }) => message.startsWith('Leading fails: Planning failed')).length).toBe(1)
        await cluster.until(() => cluster.leader?.id === 'b', { withinSeconds: 30 })
        expect(cluster.member('a').eventsOf('leader_stepped_down')[0]?.reason).toMatch(/^Planning failed/)
        await cluster.pass(20)
        expect(cluster.recorder.runs.length).toBe(runs)
        expect(cluster.isBalanced).toBe(true)
      }),
  )
})

describe('a run that fails in the strangest way', () => {
  it.each([
    ['null', null],
    ['undefined', undefined],
    ['what has no text', Object.create(null)],
    ['what throws when it is turned into text', { toString: () => expect.unreachable() }],
    ['a symbol', Symbol('s')],
    ['an error whose message throws', Object.defineProperty(new Error(), 'message', { get: () => expect.unreachable() })],
  ])('is reported as failed, with an error, and started again: %s', (_name, thrown) =>
    simulate({ subscriptions: 1 }, async (cluster) => {
      let tries = 0
      const a = await cluster.start('a', {
        run: (_subscription, { signal }) =>
          tries++ === 0 ? Promise.reject(thrown) : new Promise((resolve) => signal.addEventListener('abort', () => resolve())),
      })
      await cluster.pass(20)
      const [failed] = a.eventsOf('run_failed')
      expect(failed?.error).not.toBeNull()
      expect(failed?.error).toBeDefined()
      expect(a.worker.status().work[0]?.lastError).toEqual(expect.any(String))
      expect(cluster.isComplete).toBe(true)
    }),
  )
})
