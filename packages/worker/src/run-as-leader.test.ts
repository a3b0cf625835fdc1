import { getEventListeners } from 'node:events'
import type { CampaigningLeaderElector, CoordinationError, Logger } from '@es/coordination-core'
import { InMemoryLeaderElector, SharedLeaderState } from '@es/coordination-memory'
import { ManualClock } from '@es/coordination-testing'
import { describe, expect, it } from 'vitest'
import { runAsLeader } from './run-as-leader.js'
import type { LeaderWork } from './worker-options.js'

const silent: Logger = { debug() {}, info() {}, warn() {}, error() {} }

function election(...ids: string[]): {
  clock: ManualClock
  electors: InMemoryLeaderElector[]
  options: { clock: ManualClock; logger: Logger }
} {
  const clock = new ManualClock()
  const sharedState = new SharedLeaderState()
  return {
    clock,
    electors: ids.map((id) => new InMemoryLeaderElector(id, { sharedState, logger: silent })),
    options: { clock, logger: silent },
  }
}

const untilTold: LeaderWork = (signal) =>
  new Promise((resolve) => (signal.aborted ? resolve() : signal.addEventListener('abort', () => resolve())))

describe('runAsLeader', () => {
  it('runs the work with the fencing token, resolves when it returns, and has released by then', async () => {
    const { electors, options } = election('a')
    const [a] = electors as [InMemoryLeaderElector]
    const terms: unknown[] = []
    await runAsLeader(a, async (_signal, term) => void terms.push(term), options)
    expect(terms).toEqual([1n])
    expect(a.isLeader).toBe(false)
    expect(options.clock.pendingTimers).toBe(0)
  })

  it('rejects with what the work throws, at once or later, and has released by then', async () => {
    const { electors, options } = election('a')
    const [a] = electors as [InMemoryLeaderElector]
    const error = new Error('work')
    const throwing: LeaderWork[] = [
      () => {
        throw error
      },
      () => Promise.reject(error),
    ]
    for (const work of throwing) {
      await expect(runAsLeader(a, work, options)).rejects.toBe(error)
      expect(a.isLeader).toBe(false)
    }
  })

  it('waits for leadership, and begins when it is free', async () => {
    const { clock, electors, options } = election('a', 'b')
    const [a, b] = electors as [InMemoryLeaderElector, InMemoryLeaderElector]
    await a.tryAcquire()
    let hasBegun = false
    const work: LeaderWork = async () => {
      hasBegun = true
    }
    const done = runAsLeader(b, work, options)
    await clock.advance(30)
    expect(hasBegun).toBe(false)
    await a.release()
    await done
    expect(hasBegun).toBe(true)
  })

  it('tells the work of a loss, waits again, and runs it anew under the next term, after the one before has ended', async () => {
    const { clock, electors, options } = election('a')
    const [a] = electors as [InMemoryLeaderElector]
    const journal: string[] = []
    const stop = new AbortController()
    const work: LeaderWork = async (signal, term) => {
      journal.push(`begins ${term}`)
      await untilTold(signal, term)
      journal.push(`told ${(signal.reason as CoordinationError).code}`)
      await new Promise<void>((resolve) => void clock.setTimer(3, resolve))
      journal.push(`ends ${term}`)
    }
    const done = runAsLeader(a, work, { ...options, signal: stop.signal })
    await clock.advance(1)
    await a.forceLoseLeadership()
    await clock.advance(1)
    expect(a.isLeader).toBe(true)
    expect(journal).toEqual(['begins 1', 'told leadership_over'])
    await clock.advance(5)
    expect(journal.slice(2)).toEqual(['ends 1', 'begins 2'])
    stop.abort()
    await clock.advance(5)
    await done
    expect(journal.slice(4)).toEqual(['told leadership_over', 'ends 2'])
    expect(a.isLeader).toBe(false)
  })

  it('skips a term that is over before the work of the one before has ended', async () => {
    const { clock, electors, options } = election('a')
    const [a] = electors as [InMemoryLeaderElector]
    const begun: unknown[] = []
    const stop = new AbortController()
    const work: LeaderWork = async (signal, term) => {
      begun.push(term)
      await untilTold(signal, term)
      await new Promise<void>((resolve) => void clock.setTimer(10, resolve))
    }
    const done = runAsLeader(a, work, { ...options, signal: stop.signal })
    for (let loss = 0; loss < 3; loss++) {
      await clock.advance(1)
      await a.forceLoseLeadership()
    }
    await clock.advance(20)
    expect(begun).toEqual([1n, 4n])
    stop.abort()
    await clock.advance(20)
    await done
  })

  it('resolves on abort while it waits, releases nothing of others, and leaves no listener on the signal (W5)', async () => {
    const { clock, electors, options } = election('a', 'b')
    const [a, b] = electors as [InMemoryLeaderElector, InMemoryLeaderElector]
    await a.tryAcquire()
    const stop = new AbortController()
    const done = runAsLeader(b, untilTold, { ...options, signal: stop.signal })
    await clock.advance(10)
    stop.abort()
    await done
    expect(a.isLeader).toBe(true)
    expect(getEventListeners(stop.signal, 'abort')).toEqual([])
    expect(clock.pendingTimers).toBe(0)
    await runAsLeader(b, untilTold, { ...options, signal: stop.signal })
  })

  it('leaves no listener on the signal over 500 losses, and warns of none (W5)', async () => {
    const { clock, electors, options } = election('a')
    const [a] = electors as [InMemoryLeaderElector]
    const stop = new AbortController()
    const warnings: unknown[] = []
    const onWarning = (warning: Error): void => void warnings.push(warning)
    process.on('warning', onWarning)
    const done = runAsLeader(a, untilTold, { ...options, signal: stop.signal })
    await clock.advance(1)
    const before = getEventListeners(stop.signal, 'abort').length
    for (let loss = 0; loss < 500; loss++) {
      await a.forceLoseLeadership()
      await clock.advance(1.5)
    }
    expect(getEventListeners(stop.signal, 'abort')).toHaveLength(before)
    stop.abort()
    await clock.advance(1)
    await done
    await new Promise((resolve) => setImmediate(resolve))
    process.off('warning', onWarning)
    expect(warnings).toEqual([])
    expect(clock.pendingTimers).toBe(0)
  })

  it('takes up leadership that was held before (E9)', async () => {
    const { electors, options } = election('a')
    const [a] = electors as [InMemoryLeaderElector]
    await a.tryAcquire()
    let calls = 0
    await runAsLeader(a, async () => void calls++, options)
    expect(calls).toBe(1)
  })

  it('asks on an interval, and survives a backend that fails, where the elector cannot campaign', async () => {
    const { clock, electors, options } = election('a')
    const [a] = electors as [InMemoryLeaderElector]
    let attempts = 0
    const original = a.tryAcquire.bind(a)
    Object.defineProperty(a, 'campaign', { value: undefined })
    a.tryAcquire = async () => {
      if (++attempts < 4) throw new Error('unreachable')
      return original()
    }
    const done = runAsLeader(a as CampaigningLeaderElector, async () => {}, { ...options, electionIntervalSeconds: 2 })
    await clock.advance(5.9)
    expect(attempts).toBe(3)
    await clock.advance(0.2)
    await done
  })

  it('gives back what an attempt wins that it had given up on', async () => {
    const { clock, electors, options } = election('a')
    const [a] = electors as [InMemoryLeaderElector]
    const original = a.tryAcquire.bind(a)
    Object.defineProperty(a, 'campaign', { value: undefined })
    a.tryAcquire = async () => {
      await new Promise<void>((resolve) => void clock.setTimer(5, resolve))
      return original()
    }
    const stop = new AbortController()
    const done = runAsLeader(a as CampaigningLeaderElector, untilTold, { ...options, signal: stop.signal })
    await clock.advance(1)
    stop.abort()
    await clock.advance(0)
    await done
    await clock.advance(10)
    expect(a.isLeader).toBe(false)
  })

  it('leaves leadership to others while the work of an earlier term does not end, and leads again once it has', async () => {
    const { clock, electors, options } = election('a', 'b')
    const [a, b] = electors as [InMemoryLeaderElector, InMemoryLeaderElector]
    let finish = (): void => {}
    const terms: unknown[] = []
    const hanging: LeaderWork = (signal, term) => {
      terms.push(term)
      return terms.length > 1 ? untilTold(signal, term) : new Promise((resolve) => (finish = resolve))
    }
    const stop = new AbortController()
    const done = runAsLeader(a, hanging, { ...options, signal: stop.signal })
    await clock.advance(1)
    await a.forceLoseLeadership()
    await clock.advance(1)
    expect(a.isLeader, 'wins again, while its old work hangs').toBe(true)
    await clock.advance(30)
    expect(a.isLeader).toBe(false)
    expect(await b.tryAcquire()).toBe(true)
    await clock.advance(60)
    finish()
    await b.release()
    await clock.advance(60)
    expect(terms).toHaveLength(2)
    stop.abort()
    await clock.advance(1)
    await done
    expect(clock.pendingTimers).toBe(0)
  })

  it('gives up, at the limit, on work that ignores that it is all over, and leaves leadership to others', async () => {
    const { clock, electors } = election('a', 'b')
    const [a, b] = electors as [InMemoryLeaderElector, InMemoryLeaderElector]
    const errors: string[] = []
    const logger: Logger = { ...silent, error: (_fields, message) => void errors.push(message) }
    const stop = new AbortController()
    let doneAt: number | null = null
    const done = runAsLeader(a, () => new Promise(() => {}), { clock, logger, signal: stop.signal, drainTimeoutSeconds: 5 })
    void done.then(() => (doneAt = clock.monotonicSeconds()))
    await clock.advance(1)
    stop.abort()
    await clock.advance(4.9)
    expect([doneAt, a.isLeader]).toEqual([null, true])
    await clock.advance(0.2)
    expect([doneAt, a.isLeader]).toEqual([6, false])
    expect(await b.tryAcquire()).toBe(true)
    expect(errors).toEqual(["The leader's work does not end and is given up; only its fencing token keeps it from doing harm"])
    expect(clock.pendingTimers).toBe(0)
  })

  it('leaves leadership to others at the limit after the loss, and at once when it wins again, while the old work goes on', async () => {
    const { clock, electors, options } = election('a')
    const [a] = electors as [InMemoryLeaderElector]
    const stop = new AbortController()
    const done = runAsLeader(a, () => new Promise(() => {}), { ...options, signal: stop.signal, drainTimeoutSeconds: 7 })
    await clock.advance(1)
    await a.forceLoseLeadership()
    await clock.advance(4)
    await a.forceLoseLeadership()
    await clock.advance(2.9)
    expect(a.isLeader, 'just below 7 s after the first loss').toBe(true)
    await clock.advance(0.2)
    expect(a.isLeader).toBe(false)
    await clock.advance(7)
    expect(a.fencingToken, 'it had a pause, won, and left it to others again').toBe(null)
    expect(await a.tryAcquire()).toBe(true)
    await clock.advance(0)
    expect(a.isLeader).toBe(false)
    stop.abort()
    await clock.advance(8)
    await done
    expect(clock.pendingTimers).toBe(0)
  })

  it('leaves no timer behind when it ends while another leads', async () => {
    const { clock, electors, options } = election('a', 'b')
    const [a, b] = electors as [InMemoryLeaderElector, InMemoryLeaderElector]
    let finish = (): void => {}
    const stop = new AbortController()
    const done = runAsLeader(a, () => new Promise((resolve) => (finish = resolve)), { ...options, signal: stop.signal })
    await clock.advance(1)
    await a.forceLoseLeadership()
    await clock.advance(1)
    const won = b.campaign()
    await a.forceLoseLeadership()
    await won
    finish()
    stop.abort()
    await clock.advance(0)
    await done
    expect(clock.pendingTimers).toBe(0)
  })

  it('refuses what is no elector, and an interval that is none', async () => {
    const { electors } = election('a')
    const [a] = electors as [InMemoryLeaderElector]
    await expect(runAsLeader({} as never, untilTold)).rejects.toMatchObject({ code: 'invalid_options' })
    for (const electionIntervalSeconds of [0, -1, Number.NaN, Number.POSITIVE_INFINITY]) {
      await expect(runAsLeader(a, untilTold, { electionIntervalSeconds })).rejects.toThrow('electionIntervalSeconds')
    }
    await expect(runAsLeader(a, untilTold, { drainTimeoutSeconds: -1 })).rejects.toThrow('drainTimeoutSeconds')
  })
})
