import { type ChildProcess, spawn } from 'node:child_process'
import { createWriteStream, existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Janitor } from './janitor.js'

/** How a process ended. */
export interface ProcessEnd {
  readonly status: number | null
  readonly signal: NodeJS.Signals | null
}

/** What a {@link ChildProgram} is started with. */
export interface ChildProgramOptions {
  /** Name of the program beside `main`, without its ending. */
  readonly program: string
  /** Its only argument. */
  readonly settings: unknown
  /** Command and arguments in front of it. @default none */
  readonly prefix?: readonly string[]
  /** The file that what it prints is appended to. */
  readonly log: string
  readonly janitor: Janitor
  readonly onMessage?: (message: never) => void
  /** Told when it ended and nobody had asked for that. */
  readonly onSurprise: (what: string) => void
}

/** A program of this package in a process of its own, which does not outlive this one. */
export class ChildProgram implements AsyncDisposable {
  readonly pid: number
  /** Resolves, never rejects, when the process has ended and all of its messages were read. */
  readonly ended: Promise<ProcessEnd>
  readonly #child: ChildProcess
  #mayEnd = false

  /** @throws Error when the program was not built. */
  constructor({ program, settings, prefix = [], log, janitor, onMessage, onSurprise }: ChildProgramOptions) {
    const [command = process.execPath, ...args] = [...prefix, process.execPath, programPath(program), JSON.stringify(settings)]
    // A terminal sends Ctrl-C to its whole group; it is this process that ends the others.
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe', 'ipc'], detached: true })
    this.#child = child
    this.pid = child.pid ?? 0
    janitor.watch('process', this.pid)
    const output = createWriteStream(log, { flags: 'a' })
    for (const stream of [child.stdout, child.stderr]) stream?.pipe(output, { end: false })
    child.on('error', (error) => output.write(`${error.message}\n`))
    if (onMessage) child.on('message', onMessage as (message: unknown) => void)
    this.ended = new Promise((resolve) => {
      child.once('close', (status, signal) => {
        janitor.forget('process', this.pid)
        output.end()
        if (!this.#mayEnd)
          onSurprise(`${program} ${this.pid} ended by itself with ${describeEnd({ status, signal })}; what it printed is in ${log}`)
        resolve({ status, signal })
      })
    })
  }

  /** Whether it was told to end, so that its end is no surprise. */
  get mayEnd(): boolean {
    return this.#mayEnd
  }

  send(message: unknown): void {
    if (this.#child.connected) this.#child.send(message as object, () => {})
  }

  signal(signal: 'SIGTERM' | 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void {
    this.#mayEnd ||= signal === 'SIGTERM' || signal === 'SIGKILL'
    this.#child.kill(signal)
  }

  /** Kills it, if it has not ended. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.signal('SIGKILL')
    await this.ended
  }
}

export function describeEnd({ status, signal }: ProcessEnd): string {
  return signal ?? `status ${status}`
}

/** @throws Error when the program was not built. */
function programPath(program: string): string {
  // Also from the sources, which tests run: a process of its own needs the built program.
  const path = fileURLToPath(new URL(`../../dist/${program}.js`, import.meta.url))
  if (!existsSync(path)) throw new Error(`${path} is missing: run "pnpm build" first`)
  return path
}
