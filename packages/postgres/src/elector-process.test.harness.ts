import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** What a child process reported; times are seconds of the monotonic clock that all processes of a machine share. */
export interface Report {
  readonly at: number
  readonly identity: string
  readonly event: string
  readonly token?: string
  readonly believedUntil?: number
  readonly isLeader?: boolean
  readonly level?: string
  readonly text?: string
}

/** One term as its own process believed in it. */
export interface Term {
  readonly identity: string
  readonly token: bigint
  readonly from: number
  readonly until: number
}

const PROGRAM = fileURLToPath(new URL('elector-child.test-program.mjs', import.meta.url))
const seconds = (nanoseconds: string): number => Number(BigInt(nanoseconds) / 1000n) / 1e6

/** The present, on the clock of the reports. */
export const machineSeconds = (): number => seconds(String(process.hrtime.bigint()))

/** An elector in a process of its own, which campaigns again and again and reports what it believes. */
export class ElectorProcess implements AsyncDisposable {
  readonly identity: string
  readonly reports: Report[] = []
  readonly process: ChildProcess
  readonly exited: Promise<{ status: number | null; signal: string | null }>
  errors = ''
  /** When the process could last run: it may believe nothing later. */
  endedAt = Number.POSITIVE_INFINITY

  constructor(options: { readonly identity: string; readonly connection: string; readonly [name: string]: unknown }) {
    this.identity = options.identity
    this.process = spawn(process.execPath, [PROGRAM, JSON.stringify(options)], { stdio: ['pipe', 'pipe', 'pipe'] })
    this.process.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.errors += text
    })
    const lines = this.process.stdout ? createInterface(this.process.stdout) : undefined
    lines?.on('line', (line) => {
      const { at, believedUntil, ...rest } = JSON.parse(line) as Record<string, string>
      this.reports.push({
        ...rest,
        at: seconds(at ?? '0'),
        ...(believedUntil && { believedUntil: seconds(believedUntil) }),
      } as unknown as Report)
    })
    this.process.stdin?.on('error', () => {})
    this.exited = once(this.process, 'close').then(([status, signal]) => {
      this.endedAt = Math.min(this.endedAt, machineSeconds())
      return { status, signal }
    })
  }

  /** Whether it leads, by its last report. */
  get leads(): boolean {
    return this.reports.findLast(({ event }) => event === 'lead' || event === 'unlead')?.event === 'lead'
  }

  of(event: string): Report[] {
    return this.reports.filter((report) => report.event === event)
  }

  /** Reports that must never come. */
  get alarms(): Report[] {
    return this.reports.filter(({ event }) => ['unhandledRejection', 'uncaughtException', 'warning', 'campaign ended'].includes(event))
  }

  signal(name: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): number {
    const at = machineSeconds()
    if (name === 'SIGKILL') this.endedAt = at
    this.process.kill(name)
    return at
  }

  send(command: 'release' | 'close'): void {
    this.process.stdin?.write(`${command}\n`)
  }

  /** Its terms; one that has not ended lasts until now, or until the process ended. */
  terms(): Term[] {
    const now = Math.min(machineSeconds(), this.endedAt)
    return this.of('lead').map(({ at, token }) => {
      const end = this.reports.find((report) => report.event === 'unlead' && report.token === token)
      return { identity: this.identity, token: BigInt(token ?? -1), from: at, until: end?.believedUntil ?? now }
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.process.exitCode === null && this.process.signalCode === null) {
      this.process.kill('SIGKILL')
      this.process.kill('SIGCONT')
    }
    await this.exited
  }
}

/** What is wrong with the terms of all processes together: two at one instant, or a token that does not exceed that of the term before. */
export function conflictsOf(processes: readonly ElectorProcess[]): string[] {
  const terms = processes.flatMap((process) => process.terms()).sort((one, other) => one.from - other.from)
  return terms.slice(1).flatMap((term, index) => {
    const before = terms[index] as Term
    const show = ({ identity, token, from, until }: Term): string => `${identity} #${token} ${from.toFixed(6)}..${until.toFixed(6)}`
    const problems: string[] = []
    if (before.until >= term.from) problems.push(`two leaders at one instant: ${show(before)} and ${show(term)}`)
    if (before.token >= term.token) problems.push(`the token did not grow: ${show(before)} and ${show(term)}`)
    return problems
  })
}
