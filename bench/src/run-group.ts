import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { BenchmarkGroup, Measurement } from './benchmark.js'
import type { GroupReport } from './group-messages.js'

const PROGRAM = fileURLToPath(new URL('group-process.js', import.meta.url))

/** How {@link runGroup} runs. */
export interface RunGroupOptions {
  readonly databaseUrl: string
  /** Ends the group and everything that it started. */
  readonly signal: AbortSignal
  /** Told of each benchmark as it is done, with what it found or why it failed. */
  readonly done: (name: string, outcome: Measurement | Error) => void
}

/** Runs the benchmarks of `group` in a process of their own. Resolves when it has ended; whatever it did not tell of has failed. */
export async function runGroup(group: BenchmarkGroup, { databaseUrl, signal, done }: RunGroupOptions): Promise<void> {
  signal.throwIfAborted()
  const missing = new Set(group.benchmarks.map(({ name }) => name))
  // A terminal's Ctrl-C goes to this process alone, which then ends the group in order.
  const child = fork(PROGRAM, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'], detached: true })
  const kill = (): void => void child.kill('SIGTERM')
  signal.addEventListener('abort', kill)
  child.on('message', (report: GroupReport) => {
    missing.delete(report.name)
    done(report.name, report.type === 'measured' ? report.measurement : new Error(report.error))
  })
  child.on('error', () => {})
  child.send({ group: group.name, benchmarks: [...missing], databaseUrl }, () => {})
  const how = await new Promise<string>((resolve) => {
    child.once('exit', (code, name) => resolve(String(name ?? code)))
    child.once('error', (error) => resolve(error.message))
  })
  signal.removeEventListener('abort', kill)
  signal.throwIfAborted()
  for (const name of missing) done(name, new Error(`The process of the group ended (${how})`))
}
