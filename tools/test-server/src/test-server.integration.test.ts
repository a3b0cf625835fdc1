import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { afterEach, describe, expect, it } from 'vitest'
import { postgresFolder } from './binaries.js'
import { createDatabase } from './test-database.js'
import { startTestServer, type TestServer } from './test-server.js'

interface Process {
  readonly pid: number
  readonly dataFolder: string
}

async function query<Row extends pg.QueryResultRow>(url: string, sql: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5000 })
  client.on('error', () => {})
  try {
    await client.connect()
    return (await client.query<Row>(sql)).rows
  } finally {
    await client.end()
  }
}

async function processOf(url: string): Promise<Process> {
  const [row] = await query<{ folder: string }>(url, `SELECT current_setting('data_directory') AS folder`)
  const dataFolder = row!.folder
  return { pid: Number(readFileSync(`${dataFolder}/postmaster.pid`, 'utf8').split('\n')[0]), dataFolder }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  // In a container without an init the dead stay as zombies, which have no command line.
  return !existsSync('/proc/self/cmdline') || readFileSync(`/proc/${pid}/cmdline`, 'utf8') !== ''
}

function isGone({ pid, dataFolder }: Process): boolean {
  return !existsSync(dataFolder) && !isRunning(pid)
}

async function eventually(condition: () => boolean | Promise<boolean>): Promise<void> {
  const giveUpAt = performance.now() + 10_000
  while (!(await condition())) {
    if (performance.now() > giveUpAt) throw new Error(`Still not after 10 s: ${condition}`)
    await delay(20)
  }
}

describe('a test server', () => {
  const servers: TestServer[] = []
  const start = async (...options: Parameters<typeof startTestServer>): Promise<TestServer> => {
    const server = await startTestServer(...options)
    servers.push(server)
    return server
  }
  afterEach(() => Promise.all(servers.splice(0).map((server) => server.stop())))

  it('is the PostgreSQL of its binaries, on the loopback interface, with a superuser, a password and the settings asked for', async () => {
    const { url } = await start({ settings: { max_connections: 17, application_name: "it's" } })
    const [row] = await query(
      url,
      `SELECT current_setting('server_version_num')::int / 10000 AS version, current_setting('listen_addresses') AS addresses,
         current_setting('max_connections') AS connections, current_setting('application_name') AS quoted,
         current_database() AS database, rolsuper AS superuser
       FROM pg_roles WHERE rolname = current_user`,
    )
    // "postgres (PostgreSQL) 18.4"
    const version = Number(/ (\d+)/.exec(execFileSync(join(postgresFolder(), 'bin', 'postgres'), ['--version'], { encoding: 'utf8' }))?.[1])
    expect(row).toEqual({ version, addresses: '127.0.0.1', connections: '17', quoted: "it's", database: 'test', superuser: true })
    await expect(query(url.replace(/:[0-9a-f]+@/, ':wrong@'), 'SELECT 1')).rejects.toMatchObject({ code: '28P01' })
  })

  it.each(['fast', 'immediate'] as const)('keeps its port and its data over a restart (%s)', async (mode) => {
    const server = await start()
    await query(server.url, 'CREATE TABLE kept AS SELECT 42 AS answer')
    const before = await processOf(server.url)
    await server.restart(mode)
    expect(await query(server.url, 'SELECT answer FROM kept')).toEqual([{ answer: 42 }])
    expect((await processOf(server.url)).pid).not.toBe(before.pid)
  })

  it('is unreachable between halt and resume', async () => {
    const server = await start()
    await server.halt('immediate')
    await expect(query(server.url, 'SELECT 1')).rejects.toMatchObject({ code: 'ECONNREFUSED' })
    await server.resume()
    expect(await query(server.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
  })

  it('leaves neither a process nor a folder behind, whether it runs or is halted, stopped once or twice', async () => {
    const running = await start()
    const halted = await start()
    const processes = await Promise.all([processOf(running.url), processOf(halted.url)])
    await halted.halt('fast')
    await Promise.all([running.stop(), running.stop(), halted.stop()])
    expect(processes.map(isGone)).toEqual([true, true])
    await expect(running.restart('fast')).rejects.toThrow('keeper')
  })

  it('runs beside others, each with its own data', async () => {
    const [one, other] = await Promise.all([start(), start()])
    await query(one.url, 'CREATE TABLE mine ()')
    await expect(query(other.url, 'SELECT FROM mine')).rejects.toMatchObject({ code: '42P01' })
  })

  it('tells why a start failed, and cleans up', async () => {
    await expect(startTestServer({ settings: { max_connections: 'many' } })).rejects.toThrow(/max_connections/)
  })

  it('can be a standby, which follows its primary and is promoted', async () => {
    const primary = await start()
    const standby = await start({ standbyOf: primary })
    await query(primary.url, 'CREATE TABLE followed AS SELECT 42 AS answer')
    await eventually(async () => (await query(standby.url, `SELECT FROM pg_tables WHERE tablename = 'followed'`)).length === 1)
    expect(await query(standby.url, 'SELECT answer, pg_is_in_recovery() AS standby FROM followed')).toEqual([{ answer: 42, standby: true }])
    await primary.stop()
    await query(standby.url, 'SELECT pg_promote()')
    expect(await query(standby.url, 'SELECT pg_is_in_recovery() AS standby')).toEqual([{ standby: false }])
  })

  it('listens on a Unix socket when it is given a folder for it', async () => {
    const { url } = await start({ settings: { unix_socket_directories: '.' } })
    const { port, username, password, pathname } = new URL(url)
    const { dataFolder } = await processOf(url)
    expect(
      await query(`postgresql://${username}:${password}@${encodeURIComponent(dataFolder)}:${port}${pathname}`, 'SELECT 1 AS one'),
    ).toEqual([{ one: 1 }])
  })

  it('makes databases and drops them with their sessions', async () => {
    const { url } = await start()
    const database = await createDatabase(url)
    const client = new pg.Client({ connectionString: database.url })
    const ended = once(client, 'error')
    client.on('error', () => {})
    await client.connect()
    expect((await client.query('SELECT current_database() AS name')).rows).toEqual([{ name: database.name }])
    await database.drop()
    await database.drop()
    expect((await ended)[0]).toMatchObject({ code: '57P01' })
  })
})

describe('the program that started a test server', () => {
  const program = (body: string): ChildProcess => {
    const index = new URL('../dist/index.js', import.meta.url).href
    const source = `import { startTestServer } from '${index}'; const server = await startTestServer(); ${body}`
    return spawn(process.execPath, ['--input-type=module', '-e', source], { stdio: ['pipe', 'pipe', 'ignore'] })
  }
  const report = `console.log(server.url);`
  const reported = async (child: ChildProcess): Promise<Process> => processOf(String((await once(child.stdout!, 'data'))[0]).trim())

  it.each(['SIGINT', 'SIGTERM', 'SIGKILL'] as const)('takes it along when killed by %s', async (signal) => {
    const child = program(`${report} setInterval(() => {}, 1000)`)
    const server = await reported(child)
    child.kill(signal)
    expect(await once(child, 'exit')).toEqual([null, signal])
    await eventually(() => isGone(server))
  })

  it('takes it along when it throws', async () => {
    const child = program(`${report} process.stdin.once('data', () => { throw new Error('lost') })`)
    const server = await reported(child)
    child.stdin!.end('throw')
    expect(await once(child, 'exit')).toEqual([1, null])
    await eventually(() => isGone(server))
  })

  it('ends by itself when it has nothing else to do, with the server stopped or not', async () => {
    const statuses = ['await server.stop()', 'await server.restart("fast")'].map((body) => once(program(body), 'exit'))
    expect(await Promise.all(statuses)).toEqual([
      [0, null],
      [0, null],
    ])
  })
})
