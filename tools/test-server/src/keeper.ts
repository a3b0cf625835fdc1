import { type ChildProcess, spawn } from 'node:child_process'
import type { Socket } from 'node:net'

/** Who the keeper and the server run as. */
export interface UserIds {
  readonly uid: number
  readonly gid: number
}

/** What a {@link Keeper} is started with. */
export interface KeeperOptions {
  /** Everything of the server is in this folder; it is removed in the end. */
  readonly folder: string
  /** Arguments of `initdb`, the program first. */
  readonly initdb: readonly string[]
  /** Path of `pg_ctl`. */
  readonly pgCtl: string
  /** @default the user of this process */
  readonly runAs?: UserIds | undefined
}

export type KeeperCommand = 'initdb' | 'start' | 'fast' | 'immediate'

// K1. The keeper outlives this process by design: when its input ends, which happens however this process ends (SIGKILL
//     included), it stops the server and removes the folder. Being detached, it does not get a terminal's Ctrl-C.
// K2. One command at a time: the end of the input is not noticed while a start is under way, so there is never a server that the
//     last lines do not know of.
const SCRIPT = `
folder=$1 pg_ctl=$2
shift 2
cd "$folder"
while read -r command; do
  case $command in
    initdb) "$@" ;;
    start) "$pg_ctl" start -w -t 60 -s -D "$folder/data" -l "$folder/server.log" ;;
    fast | immediate) "$pg_ctl" stop -w -t 60 -s -D "$folder/data" -m "$command" ;;
  esac </dev/null >"$folder/command.log" 2>&1
  echo "$?"
done 2>/dev/null
"$pg_ctl" stop -w -t 60 -s -D "$folder/data" -m immediate >/dev/null 2>&1
cd /
rm -rf -- "$folder"
`

/** A shell process that runs the server's commands and cleans up after them, whatever becomes of this process. */
export class Keeper {
  readonly #process: ChildProcess
  readonly #input: Socket
  readonly #output: Socket
  readonly #ended: Promise<void>
  #last: Promise<unknown> = Promise.resolve()

  constructor({ folder, initdb, pgCtl, runAs }: KeeperOptions) {
    this.#process = spawn('/bin/sh', ['-c', SCRIPT, 'test-server-keeper', folder, pgCtl, ...initdb], {
      ...runAs,
      // Not this process's folder, which the other user may not be allowed to enter.
      cwd: '/',
      detached: true,
      stdio: ['pipe', 'pipe', 'ignore'],
      // LC_ALL: some systems lack the user's locale. PG*: they would change what pg_ctl does.
      env: { ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('PG'))), LC_ALL: 'C' },
    })
    this.#input = this.#process.stdin as Socket
    this.#output = this.#process.stdout as Socket
    // A write to a keeper that is gone; `run` reports that.
    this.#input.on('error', () => {})
    this.#output.setEncoding('utf8')
    this.#ended = new Promise((resolve) => {
      this.#process.once('close', () => resolve())
      this.#process.once('error', () => resolve())
    })
    this.#keepAlive(false)
  }

  /** Runs one command after those before it; whether it succeeded. */
  run(command: KeeperCommand): Promise<boolean> {
    const run = this.#last.then(() => this.#run(command))
    this.#last = run.catch(() => {})
    return run
  }

  /** Stops the server if it runs, removes the folder and resolves when both are gone. */
  async end(): Promise<void> {
    await this.#last
    this.#keepAlive(true)
    this.#input.end()
    await this.#ended
  }

  async #run(command: KeeperCommand): Promise<boolean> {
    this.#keepAlive(true)
    try {
      const answer = new Promise<string>((resolve) => this.#output.once('data', resolve))
      this.#input.write(`${command}\n`)
      const status = await Promise.race([answer, this.#ended])
      if (status === undefined) throw new Error(`The test server's keeper process ended during "${command}"`)
      return status.trim() === '0'
    } finally {
      this.#keepAlive(false)
    }
  }

  // While nothing is awaited, a program that has nothing else to do may end, and the server with it (K1).
  #keepAlive(wanted: boolean): void {
    const verb = wanted ? 'ref' : 'unref'
    this.#process[verb]()
    this.#input[verb]()
    this.#output[verb]()
  }
}
