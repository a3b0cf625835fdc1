import { getEventListeners } from 'node:events'
import { ManualClock } from '@es/coordination-testing'
import { beforeEach, describe, expect, it } from 'vitest'
import { FakeLockServer, type FakeSession } from './fake-lock-server.test.harness.js'
import { LockSession } from './lock-session.js'

const KEY = '42'
const SILENT = { debug() {}, info() {}, warn() {}, error() {} }

let clock: ManualClock
let server: FakeLockServer
let losses: string[]

beforeEach(() => {
  clock = new ManualClock()
  server = new FakeLockServer(clock)
  losses = []
})

function newSession(open: (signal: AbortSignal) => Promise<FakeSession> = (signal) => server.open(signal)): LockSession {
  const locks = new LockSession({
    open,
    leaseSeconds: 15,
    renewDeadlineSeconds: 10,
    waitSliceSeconds: 1,
    requestTimeoutSeconds: 5,
    clock,
    logger: SILENT,
    fields: {},
  })
  locks.addOwner('a test', { lost: (reason) => losses.push(reason.message), renewed() {} })
  return locks
}

/** The error that `call` rejects with, once `seconds` have passed. */
async function errorOf(call: Promise<unknown>, seconds = 0): Promise<unknown> {
  let caught: unknown = 'still pending'
  void call.then(
    () => {
      caught = 'resolved'
    },
    (error: unknown) => {
      caught = error
    },
  )
  await clock.advance(seconds)
  return caught
}

describe('a LockSession whose server fails', () => {
  it('reports a session that the server ended, once, and opens another when asked (L4)', async () => {
    const locks = newSession()
    await locks.tryLock([KEY])
    server.holderOf(KEY)?.terminate()
    await clock.advance(0)
    expect(losses).toEqual(['terminating connection due to administrator command'])
    expect(locks.tokenOf(KEY)).toBeNull()
    await locks.tryLock([KEY])
    expect(locks.tokenOf(KEY)).toBe(101n)
    expect(server.openings).toHaveLength(2)
  })

  it('rejects the statement under way with the reason when the session ends below it', async () => {
    const locks = newSession()
    await locks.tryLock([KEY])
    server.fateOf = () => 'lost'
    const asked = locks.holders([KEY])
    await clock.advance(0)
    server.holderOf(KEY)?.terminate()
    expect(await errorOf(asked)).toMatchObject({ code: 'connection_lost', message: expect.stringContaining('administrator command') })
    expect(losses).toHaveLength(1)
  })

  it('says connection_lost, and not closed, when the session ended between two statements of one call', async () => {
    const locks = newSession(async (signal) => {
      const session = await server.open(signal)
      void Promise.resolve().then(() => session.terminate())
      return session
    })
    expect(await errorOf(locks.tryLock([KEY]))).toMatchObject({ code: 'connection_lost' })
  })

  it('gives up a silent server after the request timeout, and ends that session (L4)', async () => {
    const locks = newSession()
    await locks.holders([KEY])
    server.fateOf = () => 'lost'
    const asked = locks.tryLock([KEY])
    expect(await errorOf(asked, 4.999)).toBe('still pending')
    expect(await errorOf(asked, 0.001)).toMatchObject({ code: 'timed_out' })
    expect(losses).toHaveLength(1)
  })

  it('ignores whatever comes from a session that has ended: a lock, a renewal, a second end (E1c, L6)', async () => {
    const locks = newSession()
    server.fateOf = () => 'unanswered'
    const first = locks.tryLock([KEY])
    await clock.advance(0)
    const session = [...server.sessions][0] as FakeSession
    expect(await errorOf(first, 5)).toMatchObject({ code: 'timed_out' })
    server.fateOf = () => 'answer'
    await locks.tryLock([KEY])
    expect(locks.tokenOf(KEY)).toBe(101n)
    session.deliverLateAnswers()
    session.terminate()
    await clock.advance(60)
    expect(locks.tokenOf(KEY)).toBe(101n)
    expect(losses).toHaveLength(1)
  })

  it('wraps an error of the driver, and ends the session with it (L4)', async () => {
    const locks = newSession()
    server.fateOf = () => new Error('syntax error')
    expect(await errorOf(locks.tryLock([KEY]))).toMatchObject({
      code: 'connection_lost',
      message: expect.stringContaining('syntax error'),
      cause: { message: 'syntax error' },
    })
    expect(server.sessions.size).toBe(0)
  })

  it('ends the session when a lock to be released was not held there (L4)', async () => {
    const locks = newSession()
    await locks.tryLock([KEY])
    server.holderOf(KEY)?.stacked.clear()
    expect(await errorOf(locks.unlock([KEY]))).toMatchObject({ code: 'connection_lost' })
    expect(losses).toHaveLength(1)
  })
})

describe('a call that was given up', () => {
  it('is unlocked again when its lock statement succeeds later, and never counts as held', async () => {
    const locks = newSession()
    server.fateOf = ({ name }) => (name === 'es_try_lock' ? { afterSeconds: 3 } : 'answer')
    const call = locks.tryLock([KEY], { timeoutSeconds: 1 })
    expect(await errorOf(call, 1)).toMatchObject({ code: 'timed_out' })
    const seen: (bigint | null)[] = []
    for (let step = 0; step < 30; step++) {
      await clock.advance(0.1)
      seen.push(locks.tokenOf(KEY))
    }
    expect(seen.every((token) => token === null)).toBe(true)
    expect(server.holderOf(KEY)).toBeUndefined()
    expect(server.count('es_unlock')).toBe(1)
    expect(losses).toEqual([])
  })

  it('is unlocked again when it was waiting, with the reason of its signal', async () => {
    const rival = newSession()
    await rival.tryLock([KEY])
    const locks = newSession()
    const controller = new AbortController()
    const call = locks.waitForLock(KEY, { signal: controller.signal })
    await clock.advance(0.5)
    controller.abort(new Error('enough'))
    expect(await errorOf(call)).toMatchObject({ message: 'enough' })
    await rival.unlock([KEY])
    await clock.advance(1)
    expect(locks.tokenOf(KEY)).toBeNull()
    expect(server.holderOf(KEY)).toBeUndefined()
    expect(losses).toEqual([])
  })

  it('is not begun when it was given up before its turn', async () => {
    const locks = newSession()
    server.fateOf = ({ name }) => (name === 'es_holders' ? { afterSeconds: 2 } : 'answer')
    const busy = locks.holders([KEY])
    const call = locks.tryLock([KEY], { timeoutSeconds: 1 })
    expect(await errorOf(call, 1)).toMatchObject({ code: 'timed_out' })
    await clock.advance(2)
    await busy
    expect(server.count('es_try_lock')).toBe(0)
  })

  it('is unlocked once, not once more for each caller who asks for it while that is under way', async () => {
    const locks = newSession()
    server.fateOf = ({ name }) => (name === 'es_try_lock' || name === 'es_unlock' ? { afterSeconds: 2 } : 'answer')
    const call = locks.tryLock([KEY], { timeoutSeconds: 1 })
    expect(await errorOf(call, 2.5)).toMatchObject({ code: 'timed_out' })
    const again = locks.unlock([KEY])
    const next = locks.tryLock([KEY])
    await clock.advance(10)
    await Promise.all([again, next])
    expect(server.count('es_unlock')).toBe(1)
    expect(locks.tokenOf(KEY)).toBe(101n)
    expect(losses).toEqual([])
  })

  it('leaves no listener on its signal, whether it succeeds, fails or is given up (W5)', async () => {
    const locks = newSession()
    const controller = new AbortController()
    for (let round = 0; round < 100; round++) {
      await locks.tryLock([KEY], { signal: controller.signal })
      await locks.unlock([KEY])
    }
    server.fateOf = () => new Error('no')
    for (let round = 0; round < 100; round++) await errorOf(locks.tryLock([KEY], { signal: controller.signal }))
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0)
  })
})

describe('unlocking', () => {
  it('ends the trust at once, before the server has answered', async () => {
    const locks = newSession()
    await locks.tryLock([KEY])
    server.fateOf = () => ({ afterSeconds: 1 })
    const unlocked = locks.unlock([KEY])
    expect(locks.tokenOf(KEY)).toBeNull()
    await clock.advance(1)
    await unlocked
  })

  it('while a renewal is under way is not mistaken for a missing lock', async () => {
    const locks = newSession()
    await locks.tryLock([KEY])
    server.fateOf = () => ({ afterSeconds: 1 })
    const renewed = locks.renew()
    const unlocked = locks.unlock([KEY])
    await clock.advance(1)
    const renewedBehindIt = locks.renew()
    await clock.advance(5)
    expect(await renewedBehindIt).toBe(true)
    expect(await renewed).toBe(true)
    await unlocked
    expect(losses).toEqual([])
    expect(server.holderOf(KEY)).toBeUndefined()
  })

  it('what is not held does nothing', async () => {
    const locks = newSession()
    await locks.unlock([KEY])
    await locks.holders([KEY])
    await locks.unlock([KEY])
    expect(server.count('es_unlock')).toBe(0)
  })
})

describe('closing a LockSession', () => {
  it('takes leave of an idle server, so that the locks are free at once', async () => {
    const locks = newSession()
    await locks.tryLock([KEY])
    const session = server.holderOf(KEY)
    await Promise.all([locks.close(), locks.close()])
    expect(session?.tookLeave).toBe(true)
    expect(server.sessions.size).toBe(0)
    expect(clock.pendingTimers).toBe(0)
    expect(losses).toEqual([])
  })

  it('does not wait for a statement under way, and rejects it with closed', async () => {
    const locks = newSession()
    server.fateOf = () => 'lost'
    const call = locks.tryLock([KEY])
    await clock.advance(0)
    await locks.close()
    expect(await errorOf(call)).toMatchObject({ code: 'closed' })
    expect(server.sessions.size).toBe(0)
    expect(clock.pendingTimers).toBe(0)
  })

  it('gives up an opening under way (P7c)', async () => {
    const locks = newSession()
    server.fateOfOpening = () => 'hang'
    const call = locks.tryLock([KEY])
    await clock.advance(0)
    await locks.close()
    expect(await errorOf(call)).toMatchObject({ code: 'closed' })
  })

  it('leaves no session behind that was opened in the instant of the closing (P13)', async () => {
    let resolve: (session: FakeSession) => void = () => {}
    const locks = newSession(() => new Promise((onResolve) => (resolve = onResolve)))
    const call = locks.tryLock([KEY])
    const session = await server.open(new AbortController().signal)
    await clock.advance(0)
    resolve(session)
    await locks.close()
    expect(await errorOf(call)).toMatchObject({ code: 'closed' })
    expect(session.isDestroyed).toBe(true)
    expect(server.sessions.size).toBe(0)
    expect(clock.pendingTimers).toBe(0)
  })

  it('refuses every later call', async () => {
    const locks = newSession()
    await locks.close()
    expect(await errorOf(locks.tryLock([KEY]))).toMatchObject({ code: 'closed' })
    expect(await errorOf(locks.waitForLock(KEY))).toMatchObject({ code: 'closed' })
    expect(await errorOf(locks.holders([KEY]))).toMatchObject({ code: 'closed' })
    expect(await locks.renew()).toBe(false)
    await locks.unlock([KEY])
    expect(server.openings).toEqual([])
  })
})

describe('a listener', () => {
  it('that asks for the lock again at once gets one new session, whoever noticed the loss (E5, L6)', async () => {
    const locks = newSession()
    let again: Promise<void> | undefined
    locks.addOwner('another one', {
      lost: () => {
        again ??= locks.tryLock([KEY])
      },
      renewed() {},
    })
    await locks.tryLock([KEY])
    // The renewal finds the trust gone, in the first lines of its turn.
    const real = clock.monotonicSeconds.bind(clock)
    clock.monotonicSeconds = () => real() + 10
    const renewed = locks.renew()
    const asked = locks.holders([KEY])
    expect(await renewed).toBe(false)
    await Promise.all([again, asked])
    expect(server.openings).toHaveLength(2)
    expect(server.sessions.size).toBe(1)
    expect(locks.tokenOf(KEY)).toBe(101n)
  })
})
