import { type CoordinationError, type Logger, sleep } from '@es/coordination-core'
import { ManualClock } from '@es/coordination-testing'
import { describe, expect, it } from 'vitest'
import { LeaderTask } from './leader-task.js'
import type { LeaderWork } from './worker-options.js'

function setUp(work: LeaderWork): { clock: ManualClock; log: string[]; task: LeaderTask } {
  const clock = new ManualClock()
  const log: string[] = []
  const keep =
    (level: keyof Logger) =>
    ({ error }: Readonly<Record<string, unknown>>, message: string) =>
      void log.push(`${level}: ${message} (${(error as Error).message})`)
  const logger = { debug: keep('debug'), info: keep('info'), warn: keep('warn'), error: keep('error') }
  return { clock, log, task: new LeaderTask({ work, clock, logger, fields: {} }) }
}

describe("the leader's work", () => {
  it('is reported when it fails while it is ending', async () => {
    const { clock, log, task } = setUp(
      (signal) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('could not write the last state')))),
    )
    task.begin(1n)
    await clock.advance(0)
    await task.endWithin(5, 'x')
    expect(log).toEqual(["warn: The leader's work failed while it was ending (could not write the last state)"])
  })

  it.each<[how: string, work: (clock: ManualClock) => LeaderWork]>([
    ["with its signal's reason", (clock) => (signal) => sleep(60, { clock, signal })],
    ['with an AbortError, as functions of Node do', () => (signal) => abortError(signal)],
    ['by returning', (clock) => (signal) => sleep(60, { clock, signal }).catch(() => {})],
  ])('is not reported when it ends %s', async (_how, work) => {
    const { clock, log, task } = setUp((signal, term) => work(clock)(signal, term))
    task.begin(1n)
    await clock.advance(0)
    await task.endWithin(5, 'x')
    expect(log).toEqual([])
    expect(task.isEnding).toBe(false)
  })

  it('is given up, and reported, when it does not end in time; that of the next term waits for it all the same', async () => {
    const begun: unknown[] = []
    let finish = (): void => {}
    const { clock, log, task } = setUp((_signal, term) => {
      begun.push(term)
      return new Promise((resolve) => (finish = resolve))
    })
    task.begin(1n)
    await clock.advance(1)
    let isOver = false
    void task.endWithin(5, 'x').then(() => (isOver = true))
    await clock.advance(4.9)
    expect([isOver, task.overdueSeconds]).toEqual([false, 4.9])
    await clock.advance(0.1)
    expect(isOver).toBe(true)
    expect(log).toEqual([
      expect.stringMatching(/^error: The leader's work does not end and is given up; only its fencing token .* took longer than 5 s/),
    ])
    task.begin(2n)
    await clock.advance(10)
    expect([begun, task.isEnding, task.overdueSeconds]).toEqual([[1n], true, 15])
    finish()
    await clock.advance(0)
    expect([begun, task.isEnding, task.overdueSeconds]).toEqual([[1n, 2n], false, 0])
  })

  it('is told that leadership is over, and why', async () => {
    const reasons: CoordinationError[] = []
    const { clock, task } = setUp(async (signal) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      reasons.push(signal.reason as CoordinationError)
    })
    task.begin(null)
    await clock.advance(0)
    task.end('Leadership was lost')
    await clock.advance(0)
    expect(reasons.map(({ code, message }) => [code, message])).toEqual([['leadership_over', 'Leadership was lost']])
  })
})

function abortError(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new DOMException('aborted', 'AbortError'))))
}
