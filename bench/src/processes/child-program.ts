import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { hostSeconds } from '../host-seconds.js'

const living = new Set<ChildProcess>()

/** Ends every child at once, stopped ones too: for the end of this process. */
export function killChildPrograms(): void {
  for (const child of living) child.kill('SIGKILL')
}

/** A program of this package in a process of its own, which is killed in the end, and ends by itself when this process is gone. */
export class ChildProgram<Command extends object, Report extends { readonly type: string }> implements AsyncDisposable {
  readonly reports: Report[] = []
  readonly #file: string
  readonly #child: ChildProcess
  readonly #waiting = new Set<() => void>()
  #ended: string | null = null

  /** @param file name of the compiled program in this package's `dist`. */
  constructor(
    file: string,
    { args = [], execArgv = [] }: { readonly args?: readonly string[]; readonly execArgv?: readonly string[] } = {},
  ) {
    this.#file = file
    const path = fileURLToPath(new URL(`../${file}`, import.meta.url))
    this.#child = fork(path, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'], execArgv: [...execArgv] })
    living.add(this.#child)
    this.#child.on('message', (report: Report) => {
      this.reports.push(report)
      this.#wake()
    })
    // A failure to send, to a process that is ending; whoever waits is told by its end.
    this.#child.on('error', () => {})
    this.#child.once('exit', (code, signal) => {
      living.delete(this.#child)
      this.#ended = `it ended (${signal ?? code})`
      this.#wake()
    })
  }

  get pid(): number {
    return this.#child.pid ?? -1
  }

  tell(command: Command): void {
    this.#child.send(command, () => {})
  }

  /** Sends a signal; returns the time just before. */
  signal(name: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT' | 'SIGTERM'): number {
    const at = hostSeconds()
    this.#child.kill(name)
    return at
  }

  /**
   * The first report from number `from` on that `isWanted`; `what` names it if it does not come.
   *
   * @throws when it does not come within `withinSeconds`, or can come no more because the process ended.
   */
  async report<Wanted extends Report>(
    what: string,
    isWanted: (report: Report) => report is Wanted,
    { from = 0, withinSeconds = 120 }: { readonly from?: number; readonly withinSeconds?: number } = {},
  ): Promise<Wanted> {
    return await this.#until(what, () => this.reports.slice(from).find(isWanted), withinSeconds)
  }

  /** Resolves when the process has ended. @throws when it does not within `withinSeconds`. */
  async ended(withinSeconds = 60): Promise<void> {
    await this.#until('its end', () => this.#ended ?? undefined, withinSeconds)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#ended !== null) return
    const exited = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await exited
  }

  async #until<Value>(what: string, find: () => Value | undefined, withinSeconds: number): Promise<Value> {
    const found = find()
    if (found !== undefined) return found
    return await new Promise((resolve, reject) => {
      const look = (): void => {
        const value = find()
        if (value !== undefined) settle(() => resolve(value))
        else if (this.#ended !== null) settle(() => reject(new Error(`${this.#file} did not tell ${what}: ${this.#ended}`)))
      }
      const timer = setTimeout(
        () => settle(() => reject(new Error(`${this.#file} (${this.pid}) did not tell ${what} within ${withinSeconds} s`))),
        withinSeconds * 1000,
      )
      const settle = (how: () => void): void => {
        clearTimeout(timer)
        this.#waiting.delete(look)
        how()
      }
      this.#waiting.add(look)
    })
  }

  #wake(): void {
    for (const look of [...this.#waiting]) look()
  }
}
