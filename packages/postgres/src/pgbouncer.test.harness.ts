import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from '@es/coordination-testing'
import { freePort } from '@es/test-server'
import { connect, through } from './test-election.test.harness.js'

const PROGRAM = process.env.PGBOUNCER ?? '/usr/sbin/pgbouncer'

/** Whether there is a PgBouncer to test with; where there is none, say so with {@link WITHOUT_PGBOUNCER}. */
export const HAS_PGBOUNCER = existsSync(PROGRAM)

/** Goes into the name of what is skipped. */
export const WITHOUT_PGBOUNCER = HAS_PGBOUNCER ? '' : ` [skipped: there is no ${PROGRAM}; install pgbouncer, or name it in PGBOUNCER]`

/** Lines of `pgbouncer.ini`. */
export type PgBouncerSettings = Readonly<Record<string, string | number>>

/** A real PgBouncer in front of a server, on the loopback interface. */
export class PgBouncer implements AsyncDisposable {
  readonly #folder: string
  readonly #port: number
  readonly #serverUrl: string
  #process: ChildProcess

  static async start(serverUrl: string, settings: PgBouncerSettings): Promise<PgBouncer> {
    const folder = await mkdtemp(join(tmpdir(), 'pgbouncer-'))
    const { hostname, port: serverPort, username, password } = new URL(serverUrl)
    const port = await freePort()
    const all = {
      listen_addr: '127.0.0.1',
      listen_port: port,
      auth_type: 'plain',
      auth_file: `${folder}/users.txt`,
      unix_socket_dir: '',
      ...settings,
    }
    const lines = Object.entries(all).map(([name, value]) => `${name} = ${value}\n`)
    await writeFile(join(folder, 'users.txt'), `"${username}" "${password}"\n`)
    await writeFile(join(folder, 'pgbouncer.ini'), `[databases]\n* = host=${hostname} port=${serverPort}\n[pgbouncer]\n${lines.join('')}`)
    const ids = unprivileged()
    if (ids) for (const name of ['', 'users.txt', 'pgbouncer.ini']) await chown(join(folder, name), ids.uid, ids.gid)
    const pooler = new PgBouncer(folder, port, serverUrl)
    await pooler.#accepts()
    return pooler
  }

  private constructor(folder: string, port: number, serverUrl: string) {
    this.#folder = folder
    this.#port = port
    this.#serverUrl = serverUrl
    this.#process = this.#spawn()
  }

  /** Connection string through the pooler. */
  get url(): string {
    return through(this.#serverUrl, { host: '127.0.0.1', port: this.#port })
  }

  async kill(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return
    const exited = once(this.#process, 'exit')
    this.#process.kill('SIGKILL')
    await exited
  }

  /** Starts it again after {@link kill}, on the same port. */
  async revive(): Promise<void> {
    this.#process = this.#spawn()
    await this.#accepts()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill()
    await rm(this.#folder, { recursive: true, force: true })
  }

  #spawn(): ChildProcess {
    return spawn(PROGRAM, [join(this.#folder, 'pgbouncer.ini')], { stdio: 'ignore', ...unprivileged() })
  }

  async #accepts(): Promise<void> {
    await until(
      async () => {
        if (this.#process.exitCode !== null) throw new Error(`PgBouncer ended with ${this.#process.exitCode}`)
        const client = await connect(this.url).catch(() => null)
        await client?.end()
        return client !== null
      },
      { what: 'PgBouncer to accept connections', withinSeconds: 10, everySeconds: 0.02 },
    )
  }
}

/** PgBouncer refuses to run as root. */
function unprivileged(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined
  const id = (flag: string): number => Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }))
  return { uid: id('-u'), gid: id('-g') }
}
