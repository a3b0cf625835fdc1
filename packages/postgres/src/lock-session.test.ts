import { ManualClock } from '@es/coordination-testing'
import { beforeEach, describe, expect, it } from 'vitest'
import { FakeLockServer, type FakeSession } from './fake-lock-server.test.harness.js'
import { LockSession, type LockSessionListener } from './lock-session.js'

const KEY = '42'
const OTHER = '-7'
const SILENT = { debug() {}, info() {}, warn() {}, error() {} }

class Watch implements LockSessionListener {
  readonly losses: string[] = []
  renewals = 0
  lost(reason: Error): void {
    this.losses.push(reason.message)
  }
  renewed(): void {
    this.renewals++
  }
}

let clock: ManualClock
let server: FakeLockServer

beforeEach(() => {
  clock = new ManualClock()
  server = new FakeLockServer(clock)
})

function newSession(): { locks: LockSession; watch: Watch } {
  const locks = new LockSession({
    open: (signal) => server.open(signal),
    leaseSeconds: 15,
    renewDeadlineSeconds: 10,
    waitSliceSeconds: 1,
    requestTimeoutSeconds: 5,
    clock,
    logger: SILENT,
    fields: {},
  })
  const watch = new Watch()
  locks.addOwner('a test', watch)
  return { locks, watch }
}

/** Lets everything happen that needs no time, and returns what became of `call`. */
async function outcomeOf<T>(call: Promise<T>): Promise<{ value: T } | { error: unknown } | 'pending'> {
  let outcome: { value: T } | { error: unknown } | 'pending' = 'pending'
  void call.then(
    (value) => {
      outcome = { value }
    },
    (error: unknown) => {
      outcome = { error }
    },
  )
  await clock.advance(0)
  return outcome
}

function onlySession(): FakeSession {
  expect(server.sessions.size).toBe(1)
  return [...server.sessions][0] as FakeSession
}

describe('the lease of a LockSession', () => {
  it('trusts a lock from the moment its statement was sent, not from when the answer came (L1)', async () => {
    const { locks, watch } = newSession()
    server.fateOf = ({ name }) => (name === 'es_try_lock' ? { afterSeconds: 4 } : 'lost')
    const locked = locks.tryLock([KEY])
    await clock.advance(4)
    await locked
    expect(locks.tokenOf(KEY)).toBe(100n)
    await clock.advance(5.999)
    expect(locks.tokenOf(KEY)).toBe(100n)
    await clock.advance(0.001)
    expect(locks.tokenOf(KEY)).toBeNull()
    expect(watch.losses).toHaveLength(1)
  })

  it('prolongs the trust from the moment the renewal was sent (L1)', async () => {
    const { locks, watch } = newSession()
    await locks.tryLock([KEY])
    server.fateOf = () => ({ afterSeconds: 3 })
    await clock.advance(8)
    server.fateOf = () => 'lost'
    // Sent at 5, answered at 8, so trusted until 15.
    await clock.advance(6.999)
    expect(locks.tokenOf(KEY)).toBe(100n)
    expect(watch.losses).toEqual([])
    await clock.advance(0.001)
    expect(locks.tokenOf(KEY)).toBeNull()
    expect(watch.losses).toHaveLength(1)
  })

  it('has no trust left on the first line after a pause, before any timer has run (L2)', async () => {
    const { locks } = newSession()
    await locks.tryLock([KEY])
    let seenInTimer: bigint | null | 'nothing' = 'nothing'
    let paused = 0
    const real = clock.monotonicSeconds.bind(clock)
    clock.monotonicSeconds = () => real() + paused
    clock.setTimer(0, () => {
      paused = 10
      seenInTimer = locks.tokenOf(KEY)
    })
    await clock.advance(0)
    expect(seenInTimer).toBeNull()
  })

  it('does not renew what it no longer trusts, even if the server would still agree (L2, L4)', async () => {
    const { locks, watch } = newSession()
    await locks.tryLock([KEY])
    const real = clock.monotonicSeconds.bind(clock)
    clock.monotonicSeconds = () => real() + 10
    expect(await locks.renew()).toBe(false)
    expect(server.count('es_check')).toBe(0)
    expect(watch.losses).toEqual(['The lease could not be renewed in time'])
  })

  it('does not get trust back that ran out in a pause, by an answer that is read before any timer has run (L2, L4)', async () => {
    const { locks, watch } = newSession()
    await locks.tryLock([KEY])
    const real = clock.monotonicSeconds.bind(clock)
    let paused = 0
    clock.monotonicSeconds = () => real() + paused
    server.fateOf = () => ({ afterSeconds: 1 })
    // Sent at 5, and answered during a pause from 6 to 11, which is past the deadline of 10.
    clock.setTimer(6, () => {
      paused = 5
    })
    await clock.advance(6)
    expect([locks.tokenOf(KEY), watch.losses]).toEqual([null, ['The lease could not be renewed in time']])
  })

  it('outlives a server that takes almost a third of the lease for every answer: the next renewal does not wait for that as well (E1b)', async () => {
    const { locks, watch } = newSession()
    await locks.tryLock([KEY])
    server.fateOf = ({ name }) => (name === 'es_check' ? { afterSeconds: 4.9 } : 'answer')
    await clock.advance(300)
    expect([locks.tokenOf(KEY), watch.losses]).toEqual([100n, []])
    expect(server.count('es_check')).toBe(60)
  })

  it('never locks again to renew: one lock statement, one row, one unlock (P2, L3)', async () => {
    const { locks } = newSession()
    for (let round = 0; round < 3; round++) await locks.tryLock([KEY])
    for (let round = 0; round < 20; round++) expect(await locks.renew()).toBe(true)
    expect(server.count('es_try_lock')).toBe(1)
    expect(server.count('es_check')).toBe(20)
    expect(onlySession().stacked).toEqual(new Map([[KEY, 1]]))
    await locks.unlock([KEY])
    expect(server.count('es_unlock')).toBe(1)
    expect(onlySession().stacked.size).toBe(0)
  })

  it('keeps an idle session alive within the lease of the server', async () => {
    const { locks, watch } = newSession()
    await locks.holders([KEY])
    await clock.advance(3600)
    expect(server.openings).toHaveLength(1)
    expect(watch.losses).toEqual([])
    expect(watch.renewals).toBe(720)
  })

  it('renews one at a time, however slow the server is (W4)', async () => {
    const { locks } = newSession()
    await locks.tryLock([KEY])
    let inFlight = 0
    let most = 0
    server.fateOf = () => {
      inFlight++
      most = Math.max(most, inFlight)
      clock.setTimer(8, () => inFlight--)
      return { afterSeconds: 8 }
    }
    const calls = [locks.renew(), locks.renew(), locks.renew()]
    await clock.advance(60)
    expect(await Promise.all(calls)).toEqual([true, true, true])
    expect(most).toBe(1)
  })

  it.each<[string, Record<string, unknown>]>([
    ['one lock less', { is_standby: false, locks: 0, checksum: '0' }],
    ['one lock more', { is_standby: false, locks: 2, checksum: '35' }],
    ['another lock', { is_standby: false, locks: 1, checksum: '43' }],
    ['one lock more, of key 0', { is_standby: false, locks: 2, checksum: '42' }],
    ['that it is a standby now', { is_standby: true, locks: 1, checksum: '42' }],
    ['nothing', {}],
  ])('ends the session when a renewal says %s, and says so once (L4)', async (_what, row) => {
    const { locks, watch } = newSession()
    await locks.tryLock([KEY])
    server.fateOf = ({ name }) => (name === 'es_check' ? { row } : 'answer')
    expect(await locks.renew()).toBe(false)
    expect(locks.tokenOf(KEY)).toBeNull()
    expect(server.sessions.size).toBe(0)
    await clock.advance(60)
    expect(watch.losses).toHaveLength(1)
  })

  it('is content with numbers that were parsed in another way, such as by a global type parser of the user', async () => {
    const { locks } = newSession()
    await locks.tryLock([KEY])
    server.fateOf = ({ name }) => (name === 'es_check' ? { row: { is_standby: false, locks: '1', checksum: '42' } } : 'answer')
    expect(await locks.renew()).toBe(true)
    server.fateOf = ({ name }) => (name === 'es_unlock' ? { row: { unlocked: 1n } } : 'answer')
    await locks.unlock([KEY])
    expect(server.sessions.size).toBe(1)
  })

  it('forgets nothing and gathers nothing over 10,000 renewals', async () => {
    const { locks, watch } = newSession()
    await locks.tryLock([KEY])
    await clock.advance(5)
    const timers = clock.pendingTimers
    await clock.advance(50_000)
    expect(watch.renewals).toBe(10_001)
    expect(server.openings).toHaveLength(1)
    expect(clock.pendingTimers).toBe(timers)
    expect(locks.tokenOf(KEY)).toBe(100n)
    await locks.close()
    expect(clock.pendingTimers).toBe(0)
  })
})

describe('a LockSession that won a lock by waiting', () => {
  it('asks the server once more, because the wait used up trust that the next renewal would come too late for (L1)', async () => {
    const locks = new LockSession({
      open: (signal) => server.open(signal),
      leaseSeconds: 1.2,
      renewDeadlineSeconds: 0.8,
      waitSliceSeconds: 1,
      requestTimeoutSeconds: 5,
      clock,
      logger: SILENT,
      fields: {},
    })
    const watch = new Watch()
    locks.addOwner('another one', watch)
    const rival = newSession()
    await rival.locks.tryLock([KEY])
    const won = locks.waitForLock(KEY)
    await clock.advance(0.9)
    await rival.locks.close()
    await clock.advance(0)
    await won
    expect(locks.tokenOf(KEY)).toBe(101n)
    await clock.advance(10)
    expect(locks.tokenOf(KEY)).toBe(101n)
    expect(watch.losses).toEqual([])
    await locks.close()
  })

  it('does not count it when the server does not confirm it', async () => {
    const { locks, watch } = newSession()
    server.fateOf = ({ name }) => (name === 'es_check' ? { row: { is_standby: false, locks: 0, checksum: '0' } } : 'answer')
    expect(await outcomeOf(locks.waitForLock(KEY))).toMatchObject({ error: { code: 'connection_lost' } })
    expect(locks.tokenOf(KEY)).toBeNull()
    expect(server.holderOf(KEY)).toBeUndefined()
    expect(watch.losses).toHaveLength(1)
  })
})

describe('a server that has just started', () => {
  it('gives no lock to tryLock before it has been up for one lease (L5)', async () => {
    server.upSecondsAtStart = 4
    const { locks } = newSession()
    await locks.tryLock([KEY])
    expect(locks.tokenOf(KEY)).toBeNull()
    await clock.advance(10.999)
    await locks.tryLock([KEY])
    expect(locks.tokenOf(KEY)).toBeNull()
    expect(server.count('es_try_lock')).toBe(0)
    await clock.advance(0.001)
    await locks.tryLock([KEY])
    expect(locks.tokenOf(KEY)).toBe(100n)
  })

  it('lets a patient caller wait for that time, a slice at a time (L5)', async () => {
    server.upSecondsAtStart = 13.5
    const { locks } = newSession()
    expect(await outcomeOf(locks.waitForLock(KEY))).toBe('pending')
    await clock.advance(1)
    const second = locks.waitForLock(KEY)
    await clock.advance(0.49)
    expect(server.count('wait')).toBe(0)
    await clock.advance(0.01)
    await second
    await locks.waitForLock(KEY)
    expect(locks.tokenOf(KEY)).toBe(100n)
  })

  it('counts both locks of one lease: two sessions never hold one key', async () => {
    const a = newSession()
    const b = newSession()
    await Promise.all([a.locks.tryLock([KEY, OTHER]), b.locks.tryLock([OTHER, KEY])])
    const tokens = [a.locks.tokenOf(KEY), b.locks.tokenOf(KEY)]
    expect(tokens.filter((token) => token !== null)).toHaveLength(1)
  })
})
