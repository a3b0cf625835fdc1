import { type ChildProcess, fork } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { hostSeconds } from './host-clock.js'
import type { WorkerReport, WorkerSettings } from './worker-messages.js'

/** How a worker process ended. */
export interface WorkerEnd {
  readonly status: number | null
  readonly signal: NodeJS.Signals | null
}

/** Whom a {@link WorkerProcess} tells. */
export interface WorkerProcessListener {
  reported(report: WorkerReport): void
  /** A line on stdout or stderr: a warning, or the error that ends the process. */
  wrote(line: string): void
}

/** A worker process, seen from the parent. */
export class WorkerProcess {
  readonly worker: string
  readonly pid: number
  readonly startedAt: number
  /** Resolves, never rejects, when the process has ended and all of its reports and output were read. */
  readonly ended: Promise<WorkerEnd>
  readonly #child: ChildProcess
  #isExpectedToEnd = false

  constructor(settings: WorkerSettings, listener: WorkerProcessListener) {
    this.worker = settings.worker
    this.startedAt = hostSeconds()
    const child = fork(fileURLToPath(new URL('worker/main.js', import.meta.url)), {
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      // A terminal sends Ctrl-C to its whole group; it is the parent that ends the workers, or its disappearance.
      detached: true,
      // The parent's own flags (an inspector's port, a loader) are not meant for the workers.
      execArgv: [],
    })
    this.#child = child
    this.pid = child.pid ?? 0
    for (const stream of [child.stdout, child.stderr]) {
      if (stream) createInterface({ input: stream }).on('line', (line) => listener.wrote(line))
    }
    child.on('message', (report: WorkerReport) => listener.reported(report))
    // Failures to start; `close` follows. Failures to send are told to the callback of `send`.
    child.on('error', (error) => listener.wrote(error.message))
    this.ended = new Promise((resolve) => {
      child.once('close', (status, signal) => resolve({ status, signal }))
    })
    if (child.connected) child.send(settings, () => {})
  }

  /** Whether it was told to end. */
  get isExpectedToEnd(): boolean {
    return this.#isExpectedToEnd
  }

  /** Sends a signal; returns the time at which it was sent. */
  send(signal: 'SIGTERM' | 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): number {
    this.#isExpectedToEnd ||= signal === 'SIGTERM' || signal === 'SIGKILL'
    const at = hostSeconds()
    this.#child.kill(signal)
    return at
  }
}
