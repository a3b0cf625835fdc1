import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished } from 'vitest'

const PROGRAM = fileURLToPath(new URL('../dist/main.js', import.meta.url))

/** What `report.json` says, as far as tests look at it. */
interface Report {
  readonly holds: boolean
  readonly checks: readonly { readonly name: string; readonly isFine: boolean; readonly found: string }[]
  readonly figures: { readonly faults: Readonly<Record<string, number>>; readonly breaches: number; readonly applied: number }
  readonly breaches: readonly { readonly rule: string; readonly message: string }[]
}

/** For tests that run the program. */
export const CHAOS_LIMIT = { timeout: 240_000 }

/** Starts the program for the present test, which fails if the program leaves anything behind. */
export function startChaos(...args: readonly string[]): ChaosProgram {
  const program = new ChaosProgram(...args)
  onTestFinished(async () => {
    await program[Symbol.asyncDispose]()
    expect(program.leftovers()).toEqual([])
  })
  return program
}

/** A run of the built program. */
class ChaosProgram {
  readonly #child
  readonly #closed
  #output = ''
  #watcher: (output: string) => void = () => {}

  /** @throws Error when the program was not built. */
  constructor(...args: readonly string[]) {
    if (!existsSync(PROGRAM)) throw new Error(`${PROGRAM} is missing: run "pnpm build" first`)
    this.#child = spawn(process.execPath, [PROGRAM, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
    this.#closed = once(this.#child, 'close')
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        this.#output += text
        this.#watcher(this.#output)
      })
    }
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  get output(): string {
    return this.#output
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }

  /** Resolves when `text` was printed. @throws Error when the program ends before. */
  async printed(text: string): Promise<void> {
    const isPrinted = new Promise<true>((resolve) => {
      this.#watcher = (output) => output.includes(text) && resolve(true)
      this.#watcher(this.#output)
    })
    if ((await Promise.race([isPrinted, this.#closed])) !== true) throw new Error(`It never printed "${text}":\n${this.#output}`)
  }

  /** The exit status, or the signal that ended it. */
  async ended(): Promise<number | NodeJS.Signals> {
    const [status, signal] = (await this.#closed) as [number | null, NodeJS.Signals | null]
    return status ?? signal ?? 0
  }

  /** The folder that was kept; `null` when none was. */
  get folder(): string | null {
    return /^Histories, logs and report: (.+)$/m.exec(this.#output)?.[1] ?? null
  }

  report(): Report {
    return JSON.parse(readFileSync(`${this.folder}/report.json`, 'utf8'))
  }

  /** What is left of it on this machine: processes that it started, and network namespaces. */
  leftovers(): readonly string[] {
    const namespaces = existsSync('/run/netns') ? readdirSync('/run/netns') : []
    return [...this.processes(), ...namespaces.filter((name) => this.#isOurs(name))]
  }

  /** Command lines of the workers and the feed that are there. Only on Linux; elsewhere none are found. */
  processes(): readonly string[] {
    const folders = existsSync('/proc/self/cmdline') ? readdirSync('/proc').filter((name) => /^\d+$/.test(name)) : []
    return folders.map(commandLine).filter((line) => /(worker|feed)-process\.js/.test(line) && this.#isOurs(line))
  }

  /** Whether one of its workers stands still. */
  hasStopped(): boolean {
    const folders = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && this.#isOurs(commandLine(name)))
    return folders.some((name) => / T /.test(readFileSync(`/proc/${name}/stat`, 'utf8')))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGTERM')
    await this.#closed
    // Also where it had no time to say so.
    const kept = readdirSync(tmpdir()).filter((name) => this.#isOurs(name))
    await Promise.all(kept.map((name) => rm(join(tmpdir(), name), { recursive: true, force: true })))
  }

  /** Namespaces and folders are named so, and every process is started with the path of a file in the folder of its run. */
  #isOurs(line: string): boolean {
    return line.includes(`es-chaos-${this.pid}-`)
  }
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return ''
  }
}
