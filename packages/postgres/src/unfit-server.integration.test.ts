import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { until } from '@es/coordination-testing'
import { startTestServer, type TestServer } from '@es/test-server'
import type pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { PostgresLeaderElector } from './postgres-leader-elector.js'
import { RecordingLogger } from './recording-logger.test.harness.js'
import { connect } from './test-election.test.harness.js'

const LEASE_SECONDS = 0.9

let server: TestServer
let folder: string
const electors: PostgresLeaderElector[] = []

beforeAll(async () => {
  server = await startTestServer({
    settings: { max_connections: 8, superuser_reserved_connections: 1, log_lock_waits: 'off' },
  })
  const client = await connect(server.url)
  const { rows } = await client.query<{ folder: string }>(`SELECT current_setting('data_directory') AS folder`)
  await client.end()
  folder = rows[0]?.folder ?? ''
})

afterEach(async () => {
  await Promise.all(electors.splice(0).map((elector) => elector.close()))
})

afterAll(() => server?.stop())

function enter(identity: string): PostgresLeaderElector {
  const elector = new PostgresLeaderElector({
    identity,
    election: 'e',
    connection: server.url,
    leaseSeconds: LEASE_SECONDS,
    waitSliceSeconds: 0.05,
    requestTimeoutSeconds: 2,
    longestRetrySeconds: 0.3,
    logger: new RecordingLogger(),
  })
  electors.push(elector)
  return elector
}

describe('a server', () => {
  it('that is waited on in slices finds no error in its log for them', async () => {
    const a = enter('a')
    await a.campaign()
    const before = (await readFile(join(folder, '..', 'server.log'), 'utf8')).length
    const b = enter('b')
    const campaign = b.campaign().catch(() => {})
    const startedAt = performance.now()
    await until(() => performance.now() - startedAt > 1500, { what: 'thirty slices' })
    await b.close()
    await campaign
    const log = (await readFile(join(folder, '..', 'server.log'), 'utf8')).slice(before)
    expect(log.split('\n').filter((line) => /ERROR|FATAL|WARNING|PANIC/.test(line))).toEqual([])
  })

  it('without a free connection is unreachable, and a campaign gets one as soon as there is (53300)', async () => {
    const hogs: pg.Client[] = []
    for (;;) {
      const hog = await connect(server.url).catch(() => null)
      if (hog === null) break
      hogs.push(hog)
    }
    await expect(enter('a').tryAcquire()).rejects.toMatchObject({
      code: 'unreachable',
      message: expect.stringContaining('max_connections'),
    })
    const b = enter('b')
    const campaign = b.campaign()
    await Promise.all(hogs.map((hog) => hog.end()))
    await campaign
    expect(b.isLeader).toBe(true)
  })
})
