import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** How a program ended, and what it printed. */
export interface ProgramRun {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
  /** Everything there is to know, for the message of an assertion. */
  readonly report: string
}

/** How {@link runProgram} runs it. */
export interface RunOptions {
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** Looks at what the program has printed so far, and may send it a signal. */
  readonly onOutput?: (stdout: string, send: (signal: NodeJS.Signals) => void) => void
}

/** Runs a built program of this package; `name` is its path below `src`, without `.ts`. */
export async function runProgram(name: string, { args = [], env = {}, onOutput }: RunOptions = {}): Promise<ProgramRun> {
  const program = fileURLToPath(new URL(`../dist/${name}.js`, import.meta.url))
  const child = spawn(process.execPath, [program, ...args], { env: { ...environment(), ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
    onOutput?.(stdout, (signal) => child.kill(signal))
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const [status, signal] = await once(child, 'close')
  const report = `${name} ${args.join(' ')} ended with ${signal ?? `status ${status}`}\n--- stdout\n${stdout}\n--- stderr\n${stderr}`
  return { status, stdout, stderr, report }
}

/** Without what the test runner sets, which would change what `node:test` and coverage do in the program. */
function environment(): NodeJS.ProcessEnv {
  const own = ['NODE_OPTIONS', 'NODE_V8_COVERAGE', 'NODE_TEST_CONTEXT', 'VITEST']
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !own.includes(name)))
}
