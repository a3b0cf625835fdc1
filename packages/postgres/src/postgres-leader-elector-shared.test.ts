import { ManualClock } from '@es/coordination-testing'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { FakeLockServer } from './fake-lock-server.test.harness.js'
import { nameFakeServer } from './fake-pg-session.test.harness.js'
import { deriveLockKey } from './lock-key.js'
import { PostgresLeaderElector } from './postgres-leader-elector.js'
import { PostgresLockSession } from './postgres-lock-session.js'
import { RecordingLogger } from './recording-logger.test.harness.js'

vi.mock('./pg-session.js', () => import('./fake-pg-session.test.harness.js'))

const KEY = deriveLockKey('leader/default', 'orders')
const OTHER = '77'

let clock: ManualClock
let server: FakeLockServer

beforeEach(() => {
  clock = new ManualClock()
  server = new FakeLockServer(clock)
})

function join(identity: string): { session: PostgresLockSession; elector: PostgresLeaderElector; changes: boolean[] } {
  const session = new PostgresLockSession({
    identity,
    connection: nameFakeServer(server),
    leaseSeconds: 15,
    renewDeadlineSeconds: 10,
    clock,
    logger: new RecordingLogger(),
  })
  const elector = new PostgresLeaderElector({ election: 'orders', session })
  const changes: boolean[] = []
  elector.onLeaderChange((isLeader) => void changes.push(isLeader))
  return { session, elector, changes }
}

describe('an elector on a shared session', () => {
  it('stands alone for its election there: two would both lead with one token', async () => {
    const { session, elector } = join('a')
    const again = (election: string): PostgresLeaderElector => new PostgresLeaderElector({ election, session })
    expect(() => again('orders')).toThrow(/election .*share that one/)
    await again('mails').close()
    await elector.close()
    await again('orders').close()
    await session.close()
  })

  it('campaigns without holding the session up: other locks are renewed and asked for meanwhile', async () => {
    const a = join('a')
    await a.elector.tryAcquire()
    const b = join('b')
    await b.session.locks.tryLock([OTHER])
    const campaign = b.elector.campaign()
    await clock.advance(60)
    expect(b.session.locks.tokenOf(OTHER)).not.toBeNull()
    expect(server.count('wait')).toBe(0)
    await a.elector.release()
    await clock.advance(0.5)
    await campaign
    expect(b.elector.isLeader).toBe(true)
  })

  it('leaves the session and the locks of others alone when it closes', async () => {
    const { session, elector, changes } = join('a')
    await session.locks.tryLock([OTHER])
    await elector.tryAcquire()
    await elector.close()
    expect(changes).toEqual([true, false])
    expect(session.locks.tokenOf(OTHER)).not.toBeNull()
    expect(server.holderOf(KEY)).toBeUndefined()
    server.holderOf(OTHER)?.terminate()
    await clock.advance(1)
    expect(changes).toEqual([true, false])
    await session.close()
    expect(clock.pendingTimers).toBe(0)
  })

  it('does not lead by an answer that arrives after it was closed, and gives the lock back', async () => {
    const { session, elector, changes } = join('a')
    server.fateOf = ({ name }) => (name === 'es_try_lock' ? { afterSeconds: 1 } : 'answer')
    const call = elector.tryAcquire().catch((error: unknown) => error)
    await clock.advance(0.5)
    await elector.close()
    await clock.advance(2)
    expect(await call).toMatchObject({ code: 'closed' })
    expect([elector.isLeader, changes, server.holderOf(KEY)]).toEqual([false, [], undefined])
    await session.close()
  })

  it('loses leadership, and says so, when the session is closed under it', async () => {
    const { session, elector, changes } = join('a')
    await elector.tryAcquire()
    await session.close()
    await clock.advance(0)
    expect(elector.isLeader).toBe(false)
    expect(changes).toEqual([true, false])
    await expect(elector.tryAcquire()).rejects.toMatchObject({ code: 'closed' })
  })
})
