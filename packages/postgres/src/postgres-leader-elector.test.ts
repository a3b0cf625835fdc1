import { ManualClock } from '@es/coordination-testing'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { FakeElection } from './fake-election.test.harness.js'
import { deriveLockKey } from './lock-key.js'

vi.mock('./pg-session.js', () => import('./fake-pg-session.test.harness.js'))

const KEY = deriveLockKey('leader/default', 'orders')

let clock: ManualClock
let election: FakeElection

beforeEach(() => {
  clock = new ManualClock()
  election = new FakeElection(clock)
})

/** What `call` came to within `seconds`. */
async function within<T>(seconds: number, call: Promise<T>): Promise<T | 'still pending' | Error> {
  let outcome: T | 'still pending' | Error = 'still pending'
  void call.then(
    (value) => {
      outcome = value
    },
    (error: Error) => {
      outcome = error
    },
  )
  await clock.advance(seconds)
  return outcome
}

describe('a leader whose renewal', () => {
  it('never answers has stepped down by the renew deadline, and a late "ok" changes nothing (E1a, E1c)', async () => {
    const { server } = election
    const { elector, changes } = election.join('a')
    await elector.tryAcquire()
    const session = server.holderOf(KEY)
    server.fateOf = ({ name }) => (name === 'es_check' ? 'unanswered' : 'answer')
    await clock.advance(9.999)
    expect([elector.isLeader, changes]).toEqual([true, [true]])
    await clock.advance(0.001)
    expect([elector.isLeader, elector.fencingToken, changes]).toEqual([false, null, [true, false]])
    await clock.advance(50)
    session?.deliverLateAnswers()
    await clock.advance(50)
    expect([elector.isLeader, elector.currentLeader, changes]).toEqual([false, null, [true, false]])
  })

  it('is slow once goes on leading, and nobody is told anything (E1b)', async () => {
    const { server } = election
    const { elector, changes } = election.join('a')
    await elector.tryAcquire()
    let slow = 1
    server.fateOf = ({ name }) => (name === 'es_check' && slow-- > 0 ? { afterSeconds: 3 } : 'answer')
    for (let second = 0; second < 120; second++) {
      await clock.advance(1)
      expect(elector.isLeader).toBe(true)
    }
    expect(changes).toEqual([true])
  })

  it('is stuck does not make tryAcquire wait longer than it was told to, or deaf to its signal', async () => {
    const { elector } = election.join('a')
    await elector.tryAcquire()
    election.server.fateOf = () => 'lost'
    expect(await within(1, elector.tryAcquire({ timeoutSeconds: 1 }))).toMatchObject({ code: 'timed_out' })
    const controller = new AbortController()
    const call = elector.tryAcquire({ signal: controller.signal })
    controller.abort(new Error('enough'))
    expect(await within(0, call)).toMatchObject({ message: 'enough' })
    expect(elector.isLeader).toBe(true)
  })
})

describe('stepping down', () => {
  it('is not told to a follower that never led, whatever it does (E3a)', async () => {
    await election.join('a').elector.tryAcquire()
    const { elector, changes } = election.join('b')
    expect(await elector.tryAcquire()).toBe(false)
    await elector.release()
    election.server.holderOf(KEY)?.terminate()
    for (const session of election.server.sessions) session.terminate()
    await clock.advance(1)
    await elector.close()
    expect(changes).toEqual([])
  })

  it('is told once when the backend goes and release is called in one tick (E3b)', async () => {
    for (const releaseFirst of [false, true]) {
      const { elector, changes } = election.join('a')
      await elector.tryAcquire()
      const session = election.server.holderOf(KEY)
      if (!releaseFirst) session?.terminate()
      const released = elector.release()
      if (releaseFirst) session?.terminate()
      await within(0, released)
      expect(changes).toEqual([true, false])
      await elector.close()
      expect(changes).toEqual([true, false])
    }
  })

  it('is told once when release is called twice in parallel (E3c)', async () => {
    const { elector, changes } = election.join('a')
    await elector.tryAcquire()
    await Promise.all([elector.release(), elector.release()])
    expect(changes).toEqual([true, false])
    expect(election.server.holderOf(KEY)).toBeUndefined()
  })

  it('is told once by close, together with release or a loss (E3)', async () => {
    const { elector, changes } = election.join('a')
    await elector.tryAcquire()
    await Promise.all([elector.close(), elector.release(), elector.close()])
    await clock.advance(60)
    expect(changes).toEqual([true, false])
    expect(clock.pendingTimers).toBe(0)
  })
})

describe('calls from inside a leader-change callback', () => {
  it('release on gaining leadership: both settle, in order, and nobody leads (E5)', async () => {
    const { elector, changes } = election.join('a')
    elector.onLeaderChange(async (isLeader) => {
      if (isLeader) await elector.release()
    })
    expect(await within(1, elector.tryAcquire())).toBe(false)
    expect(changes).toEqual([true, false])
    expect([elector.isLeader, elector.currentLeader]).toEqual([false, null])
    expect(election.server.holderOf(KEY)).toBeUndefined()
  })

  it('release on gaining leadership ends a campaign too, which was won, instead of starting it over and over (E5)', async () => {
    const { elector, changes } = election.join('a')
    elector.onLeaderChange(async (isLeader) => {
      if (isLeader) await elector.release()
    })
    expect(await within(1, elector.campaign())).toBeUndefined()
    expect(changes).toEqual([true, false])
    expect(election.server.holderOf(KEY)).toBeUndefined()
  })

  it('tryAcquire on losing leadership by release never leads without a lock (E5)', async () => {
    const believed: { isLeader: boolean; holds: boolean }[] = []
    const answers: boolean[] = []
    // The first callback: it runs before release() has returned.
    const { elector, changes } = election.join('a', {}, (self) => async (isLeader) => {
      if (!isLeader && answers.length === 0) answers.push(await self.tryAcquire())
      believed.push({ isLeader: self.isLeader, holds: election.server.holderOf(KEY) !== undefined })
    })
    await elector.tryAcquire()
    await within(1, elector.release())
    expect(answers).toEqual([true])
    expect(changes).toEqual([true, false, true])
    for (const { isLeader, holds } of believed) expect(holds || !isLeader).toBe(true)
    expect(election.server.holderOf(KEY)?.stacked.get(KEY)).toBe(1)
    expect(await elector.renew()).toBe(true)
  })

  it('tryAcquire on losing the session gets a new one, whoever notices the loss first (E5, E11)', async () => {
    const { elector, changes } = election.join('a')
    elector.onLeaderChange(async (isLeader) => {
      if (!isLeader) await elector.tryAcquire()
    })
    await elector.tryAcquire()
    election.server.holderOf(KEY)?.terminate()
    await clock.advance(1)
    expect(changes).toEqual([true, false, true])
    expect(election.server.sessions.size).toBe(1)
  })

  it('tryAcquire while closing is refused, so that nothing leads behind a closed elector', async () => {
    const { elector, changes } = election.join('a')
    const outcomes: unknown[] = []
    elector.onLeaderChange(async (isLeader) => {
      if (isLeader) return
      for (const call of [elector.tryAcquire(), elector.campaign()]) outcomes.push(await call.catch((error: unknown) => error))
    })
    await elector.tryAcquire()
    await within(1, elector.close())
    expect(outcomes).toMatchObject([{ code: 'closed' }, { code: 'closed' }])
    expect(changes).toEqual([true, false])
    expect(election.server.sessions.size).toBe(0)
  })

  it('close settles although it is called from a callback, and closes (E5)', async () => {
    const { elector } = election.join('a')
    elector.onLeaderChange(async (isLeader) => {
      if (isLeader) await elector.close()
    })
    await within(1, elector.tryAcquire())
    expect(election.server.sessions.size).toBe(0)
    expect(clock.pendingTimers).toBe(0)
  })
})

describe('close', () => {
  it('is bounded although a callback hangs, and has freed the lock long before (P7)', async () => {
    const { elector } = election.join('a')
    await elector.tryAcquire()
    elector.onLeaderChange(() => new Promise(() => {}))
    const closed = elector.close()
    await clock.advance(0)
    expect(election.server.holderOf(KEY)).toBeUndefined()
    expect(await within(5, closed)).toBeUndefined()
    expect(election.server.sessions.size).toBe(0)
    expect(clock.pendingTimers).toBe(0)
  })

  it('is bounded although the server hangs (P7d)', async () => {
    const { elector } = election.join('a')
    await elector.tryAcquire()
    election.server.fateOf = () => 'lost'
    expect(await within(5, elector.close())).toBeUndefined()
    expect(clock.pendingTimers).toBe(0)
  })

  it('does not let a tryAcquire that was just answered lead afterwards', async () => {
    const { elector, changes } = election.join('a')
    election.server.fateOf = ({ name }) => (name === 'es_try_lock' ? { afterSeconds: 1 } : 'answer')
    const call = elector.tryAcquire()
    clock.setTimer(1, () => void elector.close())
    expect(await within(2, call)).toMatchObject({ code: 'closed' })
    expect([elector.isLeader, changes]).toEqual([false, []])
    expect(election.server.sessions.size).toBe(0)
  })
})

describe('one lock for one term', () => {
  it('stays one through three acquisitions and twenty renewals, and is gone after one release (P2)', async () => {
    const { server } = election
    const a = election.join('a').elector
    const b = election.join('b').elector
    for (let round = 0; round < 3; round++) expect(await a.tryAcquire()).toBe(true)
    for (let round = 0; round < 20; round++) expect(await a.renew()).toBe(true)
    expect(await b.tryAcquire()).toBe(false)
    expect(server.holderOf(KEY)?.stacked.get(KEY)).toBe(1)
    expect([server.count('es_try_lock'), server.count('es_check')]).toEqual([2, 22])
    await a.release()
    expect(server.count('es_unlock')).toBe(1)
    expect(await b.tryAcquire()).toBe(true)
  })

  it('is asked after before an acquisition is confirmed: one that was taken away is not answered true from memory (P2)', async () => {
    const { elector, changes } = election.join('a')
    await elector.tryAcquire()
    const first = elector.fencingToken ?? 0n
    election.server.holderOf(KEY)?.stacked.clear()
    expect(await elector.tryAcquire()).toBe(true)
    expect(changes).toEqual([true, false, true])
    expect(elector.fencingToken).toBeGreaterThan(first)
    expect(election.server.holderOf(KEY)?.stacked.get(KEY)).toBe(1)
  })
})

describe('currentLeader', () => {
  it('names the leader to a follower, and follows a change of leader by itself', async () => {
    const a = election.join('ä leader').elector
    const b = election.join('b').elector
    await a.tryAcquire()
    await b.tryAcquire()
    expect([a.currentLeader, b.currentLeader]).toEqual(['ä leader', 'ä leader'])
    await a.release()
    await clock.advance(5)
    expect(b.currentLeader).toBeNull()
    await election.join('c').elector.tryAcquire()
    await clock.advance(5)
    expect(b.currentLeader).toBe('c')
  })

  it('does not name an earlier leader after a term of its own', async () => {
    const a = election.join('a').elector
    const b = election.join('b').elector
    await a.tryAcquire()
    await b.tryAcquire()
    await a.close()
    await b.campaign()
    expect(b.currentLeader).toBe('b')
    await b.release()
    expect(b.currentLeader).toBeNull()
  })

  it('reports whoever holds the lock with process and name, once (O1)', async () => {
    await election.join('psql').elector.tryAcquire()
    const { elector } = election.join('b')
    for (let round = 0; round < 5; round++) await elector.tryAcquire()
    await clock.advance(60)
    const reports = election.logger.lines.filter(({ message }) => message === 'psql leads')
    expect(reports).toHaveLength(1)
    expect(reports[0]?.fields).toMatchObject({ identity: 'b', backendPid: 1, applicationName: 'psql' })
  })
})

describe('a server younger than the lease', () => {
  it('makes tryAcquire answer false and a campaign wait, so that nobody leads before a cut-off leader gave up (L5)', async () => {
    election.server.upSecondsAtStart = 0
    const a = election.join('a').elector
    const b = election.join('b').elector
    const campaign = b.campaign()
    for (let second = 0; second < 14; second++) {
      expect(await a.tryAcquire()).toBe(false)
      await clock.advance(1)
      expect([a.isLeader, b.isLeader]).toEqual([false, false])
    }
    expect(await within(2.1, campaign)).toBeUndefined()
    expect(b.isLeader).toBe(true)
    expect(await a.tryAcquire()).toBe(false)
  })
})
