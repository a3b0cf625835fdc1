import { fork } from 'node:child_process'
import { totalmem } from 'node:os'
import { fileURLToPath } from 'node:url'
import type { ScalingCommand, ScalingKind, ScalingReport, ScalingWork } from './process-messages.js'

const PROGRAM = fileURLToPath(new URL('../scaling-process.js', import.meta.url))
const MEMORY_SHARE = 0.7

/** What came of a piece of work: its figures, or why there are none. */
export type Outcome<Figures> = { readonly figures: Figures } | { readonly reason: string }

/** How {@link runWork} runs. */
export interface RunWorkOptions {
  /** The process is ended then. */
  readonly limitSeconds: number
  /** Ends the process. */
  readonly signal: AbortSignal
}

/** Measures one thing in a process of its own. @throws the signal's reason when it aborts. */
export async function runWork<Kind extends ScalingKind>(
  kind: Kind,
  command: ScalingWork[Kind]['command'],
  { limitSeconds, signal }: RunWorkOptions,
): Promise<Outcome<ScalingWork[Kind]['figures']>> {
  signal.throwIfAborted()
  const megabytes = Math.floor((totalmem() * MEMORY_SHARE) / 2 ** 20)
  const child = fork(PROGRAM, {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    // A terminal's Ctrl-C goes to this process alone.
    detached: true,
    // A simulated cluster makes far more short-lived objects than the heap of one worker is laid out for.
    execArgv: [`--max-old-space-size=${megabytes}`, '--max-semi-space-size=128'],
  })
  let outcome: Outcome<ScalingWork[Kind]['figures']> | null = null
  child.on('message', (report: ScalingReport) => {
    outcome = report.type === 'measured' ? { figures: report.figures as ScalingWork[Kind]['figures'] } : { reason: report.reason }
  })
  const end = (): void => void child.kill('SIGKILL')
  const limit = setTimeout(() => {
    outcome ??= { reason: `not done within ${limitSeconds} s` }
    end()
  }, limitSeconds * 1000)
  signal.addEventListener('abort', end)
  child.send({ kind, ...command } as unknown as ScalingCommand, () => {})
  const how = await new Promise<string>((resolve) => {
    child.once('exit', (code, name) => resolve(String(name ?? code)))
    child.once('error', (error) => resolve(error.message))
  })
  clearTimeout(limit)
  signal.removeEventListener('abort', end)
  signal.throwIfAborted()
  return outcome ?? { reason: `its process ended (${how}), which is most often for want of memory` }
}
