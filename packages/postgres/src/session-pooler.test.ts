import { ManualClock } from '@es/coordination-testing'
import { describe, expect, it } from 'vitest'
import type { Row } from './pg-session.js'
import { type PoolerCheck, type PoolerProbe, verifySessionPooler } from './session-pooler.js'

interface Answers {
  /** Of the connection, one look after the other; the last one is repeated. */
  readonly looks: readonly Row[]
  readonly probePid?: number
  readonly lockPid?: number
}

const CONNECTION = 1
const PROBE = 2
const free: Row = { pid: CONNECTION, own_locks: 0, holder: null }
const held: Row = { pid: CONNECTION, own_locks: 0, holder: PROBE }

/** Checks a pooler that answers as scripted; what became of it, and what was said to the probe and ended. */
async function check({
  looks,
  probePid = PROBE,
  lockPid = probePid,
}: Answers): Promise<{ outcome: unknown; log: string[]; seconds: number }> {
  const clock = new ManualClock()
  const log: string[] = []
  const remaining = [...looks]
  const probe: PoolerProbe = {
    async ask(text) {
      log.push(text.includes('pg_try_advisory_lock') ? 'locks' : 'looks')
      return text.includes('pg_try_advisory_lock') ? { pid: lockPid } : { pid: probePid, own_locks: 0, holder: null }
    },
    async end() {
      log.push('ends')
    },
  }
  const options: PoolerCheck = {
    server: 'db:1/app',
    connection: {
      async ask(text) {
        if (text.includes('pg_terminate_backend')) log.push('ends the holder')
        return (remaining.length > 1 ? remaining.shift() : remaining[0]) as Row
      },
    },
    openProbe: async () => probe,
    resetSeconds: 0.5,
    clock,
    signal: new AbortController().signal,
  }
  let outcome: unknown
  void verifySessionPooler(options).then(
    (pid) => (outcome = pid),
    (error: unknown) => (outcome = error),
  )
  for (let step = 0; outcome === undefined && step < 100; step++) {
    await new Promise(setImmediate)
    if (outcome === undefined) await clock.advance(0.01)
  }
  return { outcome, log, seconds: clock.monotonicSeconds() }
}

const refusal = (found: string) =>
  expect.objectContaining({
    name: 'ConnectionError',
    code: 'transaction_pooler',
    message: expect.stringMatching(new RegExp(`db:1/app cannot be used: ${found}.*pool_mode = session, server_reset_query = DISCARD ALL`)),
  })

describe('verifySessionPooler', () => {
  it('finds a pooler fit in which a lock lives as long as its connection, and names the server session', async () => {
    const { outcome, log } = await check({ looks: [free, free, held, free] })
    expect([outcome, log]).toEqual([CONNECTION, ['looks', 'locks', 'ends']])
  })

  it('gives the pooler time to free the lock', async () => {
    const { outcome } = await check({ looks: [free, free, held, held, held, held, free] })
    expect(outcome).toBe(CONNECTION)
  })

  it.each<[string, Answers, string, string[]]>([
    ['its session is shared (Q1)', { looks: [free], probePid: CONNECTION }, 'it lets two connections share', ['looks']],
    ['its session changed before anything was locked (Q1)', { looks: [free, { ...free, pid: 9 }] }, 'it moves a connection', ['looks']],
    [
      'its session changed afterwards (Q1)',
      { looks: [free, free, { ...held, pid: 9 }] },
      'it moves a connection',
      ['looks', 'locks', 'ends the holder'],
    ],
    [
      'its session changed in the end (Q1)',
      { looks: [free, free, held, { ...free, pid: 9 }] },
      'it moves',
      ['looks', 'locks', 'ends', 'ends the holder'],
    ],
    [
      'it came with locks (Q2)',
      { looks: [{ ...free, own_locks: 1 }] },
      'it hands out a server session in which another client left locks',
      [],
    ],
    [
      'the lock is gone while its connection is idle (Q3)',
      { looks: [free, free, free] },
      'a lock does not last',
      ['looks', 'locks', 'ends the holder'],
    ],
    [
      'somebody else has the lock (Q3)',
      { looks: [free, free, { ...held, holder: 9 }] },
      'a lock does not last',
      ['looks', 'locks', 'ends the holder'],
    ],
    ['the lock stays (Q4)', { looks: [free, free, held] }, 'a lock outlives its connection', ['looks', 'locks', 'ends', 'ends the holder']],
  ])('refuses it when %s', async (_what, answers, found, expected) => {
    const { outcome, log, seconds } = await check(answers)
    expect([outcome, log]).toEqual([refusal(found), expected])
    expect(seconds).toBeLessThan(0.7)
  })
})
