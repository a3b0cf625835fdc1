import { execFileSync, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chown, cp, mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { postgresFolder, REMEDY } from './binaries.js'
import { freePort } from './free-port.js'
import { Keeper, type KeeperCommand, type UserIds } from './keeper.js'
import { dataFolderOf, standbySettings, whileDown } from './standby.js'
import { createDatabase } from './test-database.js'

/** `fast` ends all sessions and shuts down in order; `immediate` is a crash: nothing is flushed, and the next start recovers. */
export type StopMode = 'fast' | 'immediate'

/** Lines of `postgresql.conf`, such as `{ max_connections: 20 }`. */
export type PostgresSettings = Readonly<Record<string, string | number | boolean>>

/** How {@link startTestServer} starts it. */
export interface TestServerOptions {
  /**
   * Settings on top of the defaults of PostgreSQL; `fsync` is off, which a crash of the server alone does not notice. There is a Unix socket only
   * if `unix_socket_directories` is set; `'.'` is the data folder.
   */
  readonly settings?: PostgresSettings
  /**
   * A folder with `bin/postgres` and its kin, such as `/usr/lib/postgresql/15`; `null` is the bundled PostgreSQL 18.
   * @default the one that the environment variable TEST_SERVER_BINARIES names, or else the bundled one
   */
  readonly binaries?: string | null
  /** Makes it a hot standby of this server, which goes down for a moment while its data is copied. Their password is the same. */
  readonly standbyOf?: TestServer
}

/** A PostgreSQL of one's own. It ends with {@link stop}, or else with this process, however that ends. */
export interface TestServer extends AsyncDisposable {
  /** Connection string: a superuser, and an empty database. */
  readonly url: string
  /** Stops and starts it on the same port with the same data. */
  restart(mode: StopMode): Promise<void>
  /** Takes it down until {@link resume}, port and data kept. */
  halt(mode: StopMode): Promise<void>
  /** Brings it up again after {@link halt}; resolves when it accepts connections. */
  resume(): Promise<void>
  /** Ends the server and removes its data; with a server of someone else's only the database made on it. Idempotent. */
  stop(): Promise<void>
}

const USER = 'postgres'
const DATABASE = 'test'
const START_ATTEMPTS = 5

/** Starts a PostgreSQL on a free port of 127.0.0.1, with fresh data in a temporary folder. Takes about a second. */
export async function startTestServer({ settings = {}, binaries, standbyOf: primary }: TestServerOptions = {}): Promise<TestServer> {
  const folderOfPrograms = postgresFolder(binaries)
  const runAs = process.getuid?.() === 0 ? unprivilegedUser() : undefined
  const folder = await mkdtemp(join(tmpdir(), 'test-server-'))
  const give = (path: string): Promise<void> => (runAs ? chown(path, runAs.uid, runAs.gid) : Promise.resolve())
  await give(folder)

  const data = join(folder, 'data')
  const programs = await reachableFolder(folderOfPrograms, folder, runAs)
  const passwordFile = join(folder, 'password')
  const password = primary ? new URL(primary.url).password : randomBytes(12).toString('hex')
  const keeper = new Keeper({
    folder,
    pgCtl: join(programs, 'bin', 'pg_ctl'),
    initdb: primary
      ? ['cp', '-R', await dataFolderOf(primary), data]
      : [
          join(programs, 'bin', 'initdb'),
          ...[`--pgdata=${data}`, `--username=${USER}`, `--pwfile=${passwordFile}`, '--auth=scram-sha-256'],
          ...['--encoding=UTF8', '--locale=C', '--no-sync'],
        ],
    runAs,
  })
  const command = async (name: KeeperCommand, logs: readonly string[]): Promise<void> => {
    if (await keeper.run(name)) return
    const output = await Promise.all(logs.map((log) => readFile(join(folder, log), 'utf8').catch(() => '')))
    throw new Error(`The test server's "${name}" failed:\n${output.join('\n').trim().slice(-4000)}\n${REMEDY}`)
  }
  const start = (): Promise<void> => command('start', ['command.log', 'server.log'])

  let url: string
  try {
    await writeFile(passwordFile, password, { mode: 0o600 })
    await give(passwordFile)
    const makeData = (): Promise<void> => command('initdb', ['command.log'])
    if (primary) {
      await whileDown(primary, makeData)
      await writeFile(join(data, 'standby.signal'), '')
      await give(join(data, 'standby.signal'))
    } else await makeData()
    for (let attempt = 1; ; attempt += 1) {
      const port = await freePort()
      await writeFile(
        join(data, 'postgresql.auto.conf'),
        configuration({ ...DEFAULT_SETTINGS, ...settings, ...FIXED_SETTINGS, ...(primary && standbySettings(primary)), port }),
      )
      url = `postgresql://${USER}:${password}@127.0.0.1:${port}/${DATABASE}`
      try {
        await start()
        break
      } catch (error) {
        // Somebody else may have taken the port in the meantime.
        if (attempt === START_ATTEMPTS || !String(error).includes('could not bind')) throw error
      }
    }
    if (!primary) await createDatabase(url.replace(`/${DATABASE}`, '/postgres'), DATABASE)
  } catch (error) {
    await keeper.end()
    throw error
  }

  let stopped: Promise<void> | undefined
  const stop = (): Promise<void> => {
    stopped ??= keeper.end()
    return stopped
  }
  return {
    url,
    async restart(mode) {
      await command(mode, ['command.log'])
      await start()
    },
    halt: (mode) => command(mode, ['command.log']),
    resume: start,
    stop,
    [Symbol.asyncDispose]: stop,
  }
}

const DEFAULT_SETTINGS: PostgresSettings = {
  unix_socket_directories: '',
}

const FIXED_SETTINGS: PostgresSettings = {
  listen_addresses: '127.0.0.1',
  fsync: false,
}

function configuration(settings: PostgresSettings): string {
  const lines = Object.entries(settings).map(([name, value]) => `${name} = '${String(value).replaceAll("'", "''")}'\n`)
  return lines.join('')
}

/**
 * PostgreSQL refuses to run as root. An account that every Unix has is borrowed instead of making one: initdb wants a name for
 * its user id, so that a free number would not do.
 */
function unprivilegedUser(): UserIds {
  for (const name of ['nobody', 'postgres']) {
    try {
      const id = (flag: string): number =>
        Number(execFileSync('id', [flag, name], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }))
      return { uid: id('-u'), gid: id('-g') }
    } catch {
      // The next one may exist.
    }
  }
  throw new Error(`PostgreSQL refuses to run as root, and there is neither a user "nobody" nor a user "postgres". ${REMEDY}`)
}

/** `programs`, or a copy of it in `folder` when it lies where the user `runAs` may not go, such as under `/root`. */
async function reachableFolder(programs: string, folder: string, runAs: UserIds | undefined): Promise<string> {
  if (!runAs) return programs
  const { error } = spawnSync(join(programs, 'bin', 'postgres'), ['--version'], { ...runAs, cwd: '/', stdio: 'ignore' })
  if (!error) return programs
  const copy = join(folder, 'postgres')
  await cp(programs, copy, { recursive: true, verbatimSymlinks: true })
  // Whoever removes the folder in the end must own what is in it.
  execFileSync('chown', ['-R', `${runAs.uid}:${runAs.gid}`, copy])
  return copy
}
