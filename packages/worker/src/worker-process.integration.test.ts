import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { until } from '@es/coordination-testing'
import { afterEach, describe, expect, it } from 'vitest'

const PROGRAM = fileURLToPath(new URL('worker-child.test-program.mjs', import.meta.url))

/** A worker in a process of its own. */
class WorkerProcess {
  readonly child: ChildProcess
  readonly exited: Promise<{ readonly code: number | null; readonly signal: string | null }>
  readonly startedAt = performance.now()
  output = ''
  errors = ''

  constructor(mode: 'import' | 'stop' | 'stay' | 'signals') {
    this.child = spawn(process.execPath, [PROGRAM, mode], { stdio: ['ignore', 'pipe', 'pipe'] })
    this.child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.output += text
    })
    this.child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.errors += text
    })
    this.exited = once(this.child, 'close').then(([code, signal]) => ({ code, signal }))
  }

  /** What it wrote, in order. */
  get events(): { readonly event: string; readonly [field: string]: unknown }[] {
    return this.output
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as { event: string })
  }

  async hasWritten(event: string, times = 1): Promise<void> {
    await until(() => this.events.filter((line) => line.event === event).length >= times, {
      what: `${event}, ${times} times`,
      withinSeconds: 15,
    })
  }
}

const children: WorkerProcess[] = []
const start = (mode: ConstructorParameters<typeof WorkerProcess>[0]): WorkerProcess => {
  const process_ = new WorkerProcess(mode)
  children.push(process_)
  return process_
}

afterEach(() => {
  for (const { child } of children.splice(0)) child.kill('SIGKILL')
})

describe('a process (W7)', () => {
  it('that only imports the package ends by itself (W7 c)', async () => {
    const { exited, errors } = start('import')
    expect(await exited).toEqual({ code: 0, signal: null })
    expect(errors).toBe('')
  })

  it('whose worker was started and stopped ends by itself, without process.exit (W7 a)', async () => {
    const stopping = start('stop')
    await stopping.hasWritten('result')
    const stoppedAt = performance.now()
    expect(await stopping.exited).toEqual({ code: 0, signal: null })
    expect(performance.now() - stoppedAt).toBeLessThan(1000)
    expect(stopping.errors).toBe('')
  })

  it('whose worker runs stays alive (W7 b)', async () => {
    const staying = start('stay')
    await staying.hasWritten('run_started', 3)
    const hasEnded = await Promise.race([staying.exited.then(() => true), new Promise((resolve) => setTimeout(resolve, 5000, false))])
    expect(hasEnded).toBe(false)
  })
})

describe('SIGTERM (W8)', () => {
  it('drains once, and lets the process end with what did not: the abandoned runs do not hold it (W8)', async () => {
    const leaving = start('signals')
    await leaving.hasWritten('run_started', 3)
    const signalledAt = performance.now()
    leaving.child.kill('SIGTERM')
    expect(await leaving.exited).toEqual({ code: 0, signal: null })
    const seconds = (performance.now() - signalledAt) / 1000
    expect(seconds).toBeGreaterThan(0.9)
    expect(seconds).toBeLessThan(3)
    expect(leaving.events.filter(({ event }) => event === 'stopping')).toHaveLength(1)
    expect(leaving.events.filter(({ event }) => event === 'told').map(({ code }) => code)).toEqual([
      'run_stopping',
      'run_stopping',
      'run_stopping',
    ])
    expect(leaving.events.at(-1)).toEqual({ event: 'stopped', abandoned: ['never', 'slow'] })
    expect(leaving.errors).toBe('')
  })

  it('a second time ends the process at once, as documented (W8)', async () => {
    const leaving = start('signals')
    await leaving.hasWritten('run_started', 3)
    leaving.child.kill('SIGTERM')
    await leaving.hasWritten('stopping')
    const signalledAt = performance.now()
    leaving.child.kill('SIGTERM')
    expect(await leaving.exited).toEqual({ code: null, signal: 'SIGTERM' })
    expect(performance.now() - signalledAt).toBeLessThan(800)
    expect(leaving.events.filter(({ event }) => event === 'stopped')).toEqual([])
  })

  it('is answered like SIGINT', async () => {
    const leaving = start('signals')
    await leaving.hasWritten('run_started', 3)
    leaving.child.kill('SIGINT')
    expect(await leaving.exited).toEqual({ code: 0, signal: null })
  })
})
