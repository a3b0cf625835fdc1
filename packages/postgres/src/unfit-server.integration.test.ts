import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chown, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
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
    settings: { max_connections: 8, superuser_reserved_connections: 1, reserved_connections: 0, log_lock_waits: 'off' },
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

function enter(identity: string, connection: string | pg.ClientConfig = server.url, logger = new RecordingLogger()): PostgresLeaderElector {
  const elector = new PostgresLeaderElector({
    identity,
    election: 'e',
    connection,
    leaseSeconds: LEASE_SECONDS,
    waitSliceSeconds: 0.05,
    requestTimeoutSeconds: 2,
    longestRetrySeconds: 0.3,
    logger,
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

describe('a pooler in front of it', () => {
  const PROGRAM = process.env.PGBOUNCER ?? '/usr/sbin/pgbouncer'

  it.skipIf(!existsSync(PROGRAM))(
    'PgBouncer in transaction mode is refused with advice, whether it refuses our options or is told to ignore them; nobody leads (P5) [skipped without /usr/sbin/pgbouncer]',
    async () => {
      const { port: serverPort, password } = new URL(server.url)
      for (const ignored of ['extra_float_digits', 'extra_float_digits,options']) {
        const place = await mkdtemp(join(tmpdir(), 'pooler-'))
        const port = await freePort()
        await writeFile(join(place, 'users.txt'), `"postgres" "${password}"\n`)
        await writeFile(
          join(place, 'pgbouncer.ini'),
          `[databases]\n* = host=127.0.0.1 port=${serverPort}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = ${port}\nauth_type = plain\nauth_file = ${place}/users.txt\n` +
            `pool_mode = transaction\ndefault_pool_size = 2\nignore_startup_parameters = ${ignored}\nunix_socket_dir =\n`,
        )
        const nobody = process.getuid?.() === 0 ? await stat(folder) : undefined
        if (nobody) for (const name of ['', 'users.txt', 'pgbouncer.ini']) await chown(join(place, name), nobody.uid, nobody.gid)
        const pooler = spawn(PROGRAM, [join(place, 'pgbouncer.ini')], {
          stdio: 'ignore',
          ...(nobody && { uid: nobody.uid, gid: nobody.gid }),
        })
        try {
          const url = new URL(server.url)
          url.port = String(port)
          const client = await until(() => connect(url.href), { what: 'the pooler', withinSeconds: 10 })
          await client.end()
          const [a, b] = [enter('a', url.href), enter('b', url.href)]
          for (const elector of [a, b]) {
            await expect(elector.tryAcquire()).rejects.toMatchObject({
              code: 'transaction_pooler',
              message: expect.stringContaining('connect to the server directly'),
            })
          }
          await expect(a.campaign()).rejects.toMatchObject({ code: 'transaction_pooler' })
          expect([a.isLeader, b.isLeader]).toEqual([false, false])
        } finally {
          pooler.kill('SIGKILL')
          await rm(place, { recursive: true, force: true })
        }
      }
    },
  )
})

// Last, because the server does not come back from it.
describe('a standby', () => {
  it('is refused, because it would grant a lock that the primary granted already; a campaign waits for its promotion', async () => {
    const a = enter('a')
    await a.campaign()
    await server.halt('fast')
    await until(() => !a.isLeader, { what: 'the leader to notice' })
    await a.close()
    await writeFile(join(folder, 'standby.signal'), '')
    const { uid, gid } = await stat(folder)
    await chown(join(folder, 'standby.signal'), uid, gid)
    await server.resume()
    const b = enter('b')
    await expect(b.tryAcquire()).rejects.toMatchObject({ code: 'standby', message: expect.stringContaining('connect to the primary') })
    const campaign = b.campaign()
    const client = await connect(server.url)
    expect((await client.query('SELECT pg_is_in_recovery() AS standby')).rows).toEqual([{ standby: true }])
    await client.query('SELECT pg_promote()')
    await client.end()
    await campaign
    expect(b.isLeader).toBe(true)
  })
})

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer()
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as { port: number }
      probe.close(() => resolve(port))
    })
  })
}
