import { startTestServer, type TestServer } from '@es/test-server'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { PostgresCoordination } from './postgres-coordination.js'
import { PostgresLeaderElector } from './postgres-leader-elector.js'
import { PostgresLockSession } from './postgres-lock-session.js'
import { PostgresOwnership } from './postgres-ownership.js'
import { PostgresTransport } from './postgres-transport.js'
import { connect } from './test-election.test.harness.js'

const SILENT = { debug() {}, info() {}, warn() {}, error() {} }
const LEASE = { leaseSeconds: 0.9, requestTimeoutSeconds: 10, logger: SILENT }

let primary: TestServer
let standby: TestServer
const closing: AsyncDisposable[] = []

beforeAll(async () => {
  primary = await startTestServer()
  standby = await startTestServer({ standbyOf: primary })
})

afterEach(() => Promise.all(closing.splice(0).map((each) => each[Symbol.asyncDispose]())))

afterAll(() => Promise.all([primary?.stop(), standby?.stop()]))

function closed<T extends AsyncDisposable>(value: T): T {
  closing.push(value)
  return value
}

const REFUSAL = { name: 'ConnectionError', code: 'standby', message: expect.stringContaining('connect to the primary') }

describe('a hot standby, which would grant a lock that the primary granted already', () => {
  it('is refused by elector, ownership and transport, whether they come together or each by itself', async () => {
    const connection = standby.url
    const ownership = new PostgresOwnership({ session: closed(new PostgresLockSession({ identity: 'a', connection, ...LEASE })) })
    const coordination = closed(new PostgresCoordination({ instanceId: 'b', connection, ...LEASE }))
    const refused = [
      closed(new PostgresLeaderElector({ identity: 'a', election: 'e', connection, ...LEASE })).tryAcquire(),
      ownership.claim(['s']),
      ownership.observe(['s']),
      closed(new PostgresTransport({ connection, requestTimeoutSeconds: 10, logger: SILENT })).publish('t', {}),
      coordination.elector.tryAcquire(),
      coordination.ownership.claim(['s']),
      coordination.transport.subscribe('t', () => {}),
    ]
    await Promise.all(refused.map((call) => expect(call).rejects.toMatchObject(REFUSAL)))
    const client = await connect(connection)
    const { rows } = await client.query(`SELECT count(*)::int AS locks FROM pg_locks WHERE locktype = 'advisory'`)
    await client.end()
    expect(rows).toEqual([{ locks: 0 }])
  })

  it('is waited for by a campaign, which leads once it was promoted', async () => {
    const [alone, shared] = [
      closed(new PostgresLeaderElector({ identity: 'a', election: 'alone', connection: standby.url, longestRetrySeconds: 0.3, ...LEASE })),
      closed(new PostgresCoordination({ instanceId: 'b', connection: standby.url, longestRetrySeconds: 0.3, ...LEASE })).elector,
    ]
    await expect(alone.tryAcquire()).rejects.toMatchObject(REFUSAL)
    const campaigns = [alone.campaign(), shared.campaign()]
    const client = await connect(standby.url)
    await primary.halt('fast')
    await client.query('SELECT pg_promote()')
    await client.end()
    await Promise.all(campaigns)
    expect([alone.isLeader, shared.isLeader]).toEqual([true, true])
  })
})
