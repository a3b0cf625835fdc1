import { setTimeout as wait } from 'node:timers/promises'
import { History } from './history.js'
import type { WorkerReport, WorkerSettings } from './worker-messages.js'
import { type WorkerEnd, WorkerProcess } from './worker-process.js'

/** What the parent knows of one worker. */
export interface Member {
  readonly process: WorkerProcess
  readonly state: 'starting' | 'running' | 'stopped' | 'leaving' | 'killed' | 'ended'
  readonly isLeader: boolean
  /** The claims that the worker said it holds: subscription and token. */
  readonly holds: Readonly<Record<string, string>>
  /** The subscriptions of which the last that was heard is that a transaction is open. */
  readonly applying: ReadonlySet<string>
}

/** What a {@link Crew} is told to do and whom it tells. */
export interface CrewOptions {
  readonly settingsOf: (worker: string) => WorkerSettings
  /** Told after the crew's own picture was brought up to date. */
  readonly onReport: (worker: string, report: WorkerReport) => void
  /** Told what a worker writes to stdout and stderr, line by line. */
  readonly onOutput: (worker: string, line: string) => void
  /** Told when a process has ended. */
  readonly onEnd: (worker: string, end: WorkerEnd) => void
  /** Ends every wait. */
  readonly signal: AbortSignal
  /** Longest wait for anything, in seconds. */
  readonly patienceSeconds: number
}

const PATIENCE_WITH_LEAVING_MS = 15_000
const LOOK_AGAIN_MS = 100

/** The worker processes of a run. Disposal leaves none behind. */
export class Crew implements AsyncDisposable {
  readonly history = new History()
  readonly #options: CrewOptions
  readonly #members = new Map<string, Member>()
  readonly #processes: WorkerProcess[] = []
  readonly #positions = new Map<string, number>()
  readonly #waiting = new Set<() => void>()
  #failure: Error | null = null

  constructor(options: CrewOptions) {
    this.#options = options
    options.signal.addEventListener('abort', () => this.#changed())
  }

  get members(): readonly Member[] {
    return [...this.#members.values()]
  }

  /** Every process there ever was. */
  get processes(): readonly WorkerProcess[] {
    return this.#processes
  }

  get leader(): Member | null {
    return this.members.find(({ isLeader }) => isLeader) ?? null
  }

  /** The checkpoint of a subscription as last reported. */
  positionOf(subscription: string): number {
    return this.#positions.get(subscription) ?? 0
  }

  /** Who runs a subscription, as far as is known; of two the one that began last. */
  ownerOf(subscription: string): Member | null {
    const run = this.history.openRuns.findLast((candidate) => candidate.subscription === subscription)
    const member = this.members.find(({ process }) => process.pid === run?.pid)
    return member && ['running', 'leaving'].includes(member.state) ? member : null
  }

  /** Starts a worker; one that was there before starts again under the same name, as a new process. */
  start(worker: string): WorkerProcess {
    const settings = this.#options.settingsOf(worker)
    const process = new WorkerProcess(settings, {
      reported: (report) => this.#record(process, report),
      wrote: (line) => this.#options.onOutput(worker, line),
    })
    this.#processes.push(process)
    this.#members.set(worker, { process, state: 'starting', isLeader: false, holds: {}, applying: new Set() })
    void process.ended.then((end) => this.#recordEnd(process, end))
    return process
  }

  /** SIGKILL: the process gets no chance to say goodbye. Returns the time. */
  kill({ process }: Member): number {
    const at = process.send('SIGKILL')
    this.#change(process, { state: 'killed', isLeader: false, holds: {} })
    // What it had already reported is still on its way; what was open then ended here.
    void process.ended.then(() => this.history.recordKill(process.pid, at))
    return at
  }

  /** SIGSTOP: the process stands still, and its connections stay open. Returns the time. */
  pause({ process }: Member): number {
    const at = process.send('SIGSTOP')
    this.#change(process, { state: 'stopped', isLeader: false, holds: {} })
    return at
  }

  /** SIGCONT. Returns the time. */
  wake({ process }: Member): number {
    this.#change(process, { state: 'running' })
    return process.send('SIGCONT')
  }

  /** SIGTERM, and waits until the process has ended. @throws Error when its status is not 0, or when it does not end. */
  async terminate(...members: readonly Member[]): Promise<void> {
    for (const { process } of members) {
      this.#change(process, { state: 'leaving' })
      process.send('SIGTERM')
    }
    const left = Promise.all(members.map(async ({ process }) => ({ process, end: await process.ended })))
    const deadline = new AbortController()
    const ends = await Promise.race([left, wait(PATIENCE_WITH_LEAVING_MS, null, { signal: deadline.signal })])
    deadline.abort()
    if (ends === null) throw new Error(`Workers did not leave within ${PATIENCE_WITH_LEAVING_MS / 1000} s of being asked`)
    for (const { process, end } of ends) if (end.status !== 0) throw endedBadly(process, end)
  }

  /**
   * Waits until `find` finds something, looking after every report.
   *
   * @throws the signal's reason; Error when a worker ended unasked, or after `patienceSeconds`.
   */
  async until<T>(what: string, find: () => T | null | false | undefined): Promise<T> {
    const { patienceSeconds } = this.#options
    const giveUpAt = performance.now() + patienceSeconds * 1000
    for (;;) {
      this.#throwIfOver()
      const found = find()
      if (found !== null && found !== undefined && found !== false) return found
      if (performance.now() > giveUpAt) throw new Error(`Waited ${patienceSeconds} s for ${what}, in vain`)
      await this.#nextChange()
    }
  }

  /** Lets the workers work. @throws as {@link until}. */
  async calm(seconds: number): Promise<void> {
    for (const over = performance.now() + seconds * 1000; performance.now() < over; ) {
      this.#throwIfOver()
      await this.#nextChange()
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const process of this.#processes) process.send('SIGKILL')
    await Promise.all(this.#processes.map((process) => process.ended))
  }

  #throwIfOver(): void {
    this.#options.signal.throwIfAborted()
    if (this.#failure) throw this.#failure
  }

  #record(process: WorkerProcess, report: WorkerReport): void {
    this.history.record(process.worker, process.pid, report)
    const member = this.#members.get(process.worker)
    // What a process that is gone still had to say belongs to the history, but not to the process that replaced it.
    if (member?.process === process && member.state !== 'killed' && member.state !== 'stopped')
      this.#change(process, changeBy(member, report))
    if (report.type === 'committed') {
      this.#positions.set(report.subscription, Math.max(this.positionOf(report.subscription), report.position))
    }
    this.#options.onReport(process.worker, report)
    this.#changed()
  }

  #recordEnd(process: WorkerProcess, end: WorkerEnd): void {
    if (this.#members.get(process.worker)?.state !== 'killed') this.#change(process, { state: 'ended', isLeader: false, holds: {} })
    if (!process.isExpectedToEnd) this.#failure ??= endedBadly(process, end)
    this.#options.onEnd(process.worker, end)
    this.#changed()
  }

  #change(process: WorkerProcess, change: Partial<Member>): void {
    const member = this.#members.get(process.worker)
    if (member?.process === process) this.#members.set(process.worker, { ...member, ...change })
  }

  /** Resolves after the next report, or soon without one: time alone may be what changed. */
  #nextChange(): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer)
        this.#waiting.delete(done)
        resolve()
      }
      const timer = setTimeout(done, LOOK_AGAIN_MS)
      this.#waiting.add(done)
    })
  }

  #changed(): void {
    for (const done of [...this.#waiting]) done()
  }
}

function changeBy({ applying, state }: Member, report: WorkerReport): Partial<Member> {
  switch (report.type) {
    case 'ready':
      return { state: 'running' }
    case 'sample':
      return { isLeader: report.leads !== null && state !== 'leaving', holds: report.holds }
    case 'applying':
      return { applying: new Set([...applying, report.subscription]) }
    case 'committed':
    case 'run_ended':
      return { applying: new Set([...applying].filter((subscription) => subscription !== report.subscription)) }
    default:
      return {}
  }
}

function endedBadly({ worker, pid }: WorkerProcess, { status, signal }: WorkerEnd): Error {
  return new Error(
    `${worker} (process ${pid}) ended with ${signal ?? `status ${status}`}, and nobody had asked for that; what it wrote is above`,
  )
}
