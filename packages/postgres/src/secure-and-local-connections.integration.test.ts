import { execFileSync, spawnSync } from 'node:child_process'
import { chown, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from '@es/coordination-testing'
import { startTestServer, type TestServer } from '@es/test-server'
import type { ClientConfig } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PostgresCoordination } from './postgres-coordination.js'
import type { PostgresConnection } from './session-settings.js'
import { connect } from './test-election.test.harness.js'

const OPENSSL = process.env.OPENSSL ?? 'openssl'
const HAS_OPENSSL = spawnSync(OPENSSL, ['version']).status === 0
const WITHOUT_OPENSSL = HAS_OPENSSL ? '' : ` [skipped: there is no ${OPENSSL} to make a certificate with]`
const SILENT = { debug() {}, info() {}, warn() {}, error() {} }

let server: TestServer
let dataFolder: string
/** The server's certificate, which it signed itself. */
let certificate: string

beforeAll(async () => {
  server = await startTestServer({ settings: { unix_socket_directories: '.' } })
  const admin = await connect(server.url)
  const { rows } = await admin.query<{ folder: string }>(`SELECT current_setting('data_directory') AS folder`)
  dataFolder = rows[0]?.folder ?? ''
  if (HAS_OPENSSL) {
    certificate = await makeCertificate(dataFolder)
    await admin.query('ALTER SYSTEM SET ssl = on')
    await admin.query('SELECT pg_reload_conf()')
    await until(async () => (await admin.query('SHOW ssl')).rows[0].ssl === 'on', { what: 'TLS' })
  }
  await admin.end()
})

afterAll(() => server?.stop())

/** A certificate for 127.0.0.1 and its key, where the server looks for them. */
async function makeCertificate(folder: string): Promise<string> {
  const place = await mkdtemp(join(tmpdir(), 'certificate-'))
  const [key, cert] = [join(place, 'server.key'), join(place, 'server.crt')]
  const kind = ['-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1']
  execFileSync(OPENSSL, ['req', ...kind, '-keyout', key, '-out', cert], { stdio: 'pipe' })
  const { uid, gid } = await stat(folder)
  for (const path of [key, cert]) {
    const target = join(folder, path === key ? 'server.key' : 'server.crt')
    await writeFile(target, await readFile(path), { mode: 0o600 })
    await chown(target, uid, gid)
  }
  const text = await readFile(cert, 'utf8')
  await rm(place, { recursive: true })
  return text
}

const enter = (instanceId: string, connection: PostgresConnection): PostgresCoordination =>
  new PostgresCoordination({ instanceId, connection, leaseSeconds: 2, pollSeconds: 0.05, longestRetrySeconds: 0.3, logger: SILENT })

/** Everything once, with the leader's sessions ended in between; how the server sees the sessions of `a`. */
async function coordinate(connection: PostgresConnection): Promise<{ isEncrypted: boolean; isLocal: boolean }[]> {
  await using a = enter('a', connection)
  await using b = enter('b', connection)
  await a.elector.campaign()
  expect(await b.elector.tryAcquire()).toBe(false)
  expect((await a.ownership.claim(['s1', 's2'])).claimed).toHaveLength(2)
  expect((await b.ownership.claim(['s1'])).denied).toHaveLength(1)
  const heard: unknown[] = []
  await b.transport.subscribe('t', (message) => heard.push(message))
  await a.transport.publish('t', { from: 'a' })
  await until(() => heard.length === 1, { what: 'the message' })

  const admin = await connect(server.url)
  const { rows } = await admin.query(
    `SELECT s.ssl AS "isEncrypted", a.client_addr IS NULL AS "isLocal", pg_terminate_backend(pid)
       FROM pg_stat_activity AS a JOIN pg_stat_ssl AS s USING (pid) WHERE application_name IN ('a', 'es-transport a')`,
  )
  await admin.end()
  await until(() => !a.elector.isLeader && a.ownership.held.size === 0, { what: 'the loss' })
  await b.elector.campaign()
  expect((await b.ownership.claim(['s1', 's2'])).claimed).toHaveLength(2)
  return rows.map(({ isEncrypted, isLocal }) => ({ isEncrypted, isLocal }))
}

describe('the coordination works', () => {
  it.skipIf(!HAS_OPENSSL)(`over TLS, with a certificate that is checked${WITHOUT_OPENSSL}`, async () => {
    const both = { isEncrypted: true, isLocal: false }
    expect(await coordinate({ connectionString: server.url, ssl: { ca: certificate } })).toEqual([both, both])
  })

  it.skipIf(!HAS_OPENSSL)(`over TLS, unless the certificate is none that it trusts${WITHOUT_OPENSSL}`, async () => {
    await using a = enter('a', { connectionString: server.url, ssl: true })
    await expect(a.elector.tryAcquire()).rejects.toMatchObject({ code: 'unreachable', message: expect.stringContaining('certificate') })
  })

  it('over a Unix socket', async () => {
    const { port, username: user, password, pathname } = new URL(server.url)
    const config: ClientConfig = { host: dataFolder, port: Number(port), user, password, database: pathname.slice(1) }
    const both = { isEncrypted: false, isLocal: true }
    expect(await coordinate(config)).toEqual([both, both])
  })
})
