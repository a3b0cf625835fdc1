import { setTimeout as wait } from 'node:timers/promises'
import { type Kill, type Term, TermLog } from './term-log.js'
import type { WorkerReport, WorkerSettings } from './worker-messages.js'
import { type WorkerEnd, WorkerProcess } from './worker-process.js'

/** What the parent knows of one worker. */
export interface Member {
  readonly process: WorkerProcess
  readonly state: 'starting' | 'waiting' | 'leading' | 'killed' | 'ended'
  /** The leader as this worker sees it. */
  readonly seesLeader: string | null
  readonly lastReport: WorkerReport | null
}

/** What a {@link Crew} is told to do and whom it tells. */
export interface CrewOptions {
  readonly settings: readonly WorkerSettings[]
  /** Length of the log. */
  readonly events: number
  /** Told after the crew's own picture was brought up to date. */
  readonly onReport: (worker: string, report: WorkerReport) => void
  /** Told what a worker writes to stdout and stderr, line by line. */
  readonly onOutput: (worker: string, line: string) => void
  /** Ends every wait. */
  readonly signal: AbortSignal
  /** How long the work may stand still before the run has failed, in seconds. */
  readonly stallSeconds: number
}

const PATIENCE_WITH_LEAVING_MS = 10_000
const LOOK_AGAIN_MS = 250

/** The worker processes of a run. Disposal leaves none behind. */
export class Crew implements AsyncDisposable {
  readonly #options: CrewOptions
  readonly #members = new Map<string, Member>()
  readonly #processes: WorkerProcess[] = []
  readonly #terms = new TermLog()
  readonly #kills: Kill[] = []
  readonly #waiting = new Set<() => void>()
  #position = 0
  #progressAt = performance.now()
  #failure: Error | null = null

  constructor(options: CrewOptions) {
    this.#options = options
    options.signal.addEventListener('abort', () => this.#changed())
  }

  get members(): readonly Member[] {
    return [...this.#members.values()]
  }

  get terms(): readonly Term[] {
    return this.#terms.terms
  }

  get kills(): readonly Kill[] {
    return this.#kills
  }

  /** The checkpoint as last reported. */
  get position(): number {
    return this.#position
  }

  /** Whether the end of the log was reached. */
  get isDone(): boolean {
    return this.#position >= this.#options.events
  }

  /** The worker that leads, as far as it has reported. */
  get leader(): Member | null {
    return this.members.find(({ state }) => state === 'leading') ?? null
  }

  start(): void {
    for (const settings of this.#options.settings) this.#launch(settings)
  }

  /** SIGKILL. The process is replaced with {@link restart}. */
  killLeader(leader: Member): Kill {
    const { process, lastReport } = leader
    const term = this.terms.findLast(({ pid }) => pid === process.pid)
    if (!term) throw new Error(`${process.worker} does not lead`)
    const at = process.kill()
    const { worker, pid } = process
    const kill: Kill = { worker, pid, token: term.token, at, position: this.#position, isInTransaction: lastReport?.type === 'applying' }
    this.#kills.push(kill)
    this.#members.set(worker, { ...leader, state: 'killed' })
    return kill
  }

  /** Starts the worker of that name again, as its supervisor would: a new process under the same name. */
  restart(worker: string): void {
    const settings = this.#options.settings.find((candidate) => candidate.worker === worker)
    if (settings) this.#launch(settings)
  }

  /**
   * Waits until `find` finds something, looking after every report.
   *
   * @throws the signal's reason; Error when a worker ended unasked, or when no batch was committed for `stallSeconds`.
   */
  async until<T>(what: string, find: () => T | null | false | undefined): Promise<T> {
    const { signal, stallSeconds } = this.#options
    this.#progressAt = performance.now()
    for (;;) {
      signal.throwIfAborted()
      if (this.#failure) throw this.#failure
      const found = find()
      if (found !== null && found !== undefined && found !== false) return found
      if (performance.now() - this.#progressAt > stallSeconds * 1000) {
        throw new Error(`Waited for ${what}, but no batch was committed for ${stallSeconds} s`)
      }
      await this.#change()
    }
  }

  /** Asks all workers to leave, and waits until they have. @throws Error when one did not leave in order. */
  async stop(): Promise<void> {
    const staying = this.members.filter(({ state }) => state !== 'killed' && state !== 'ended')
    for (const { process } of staying) process.stop()
    const left = Promise.all(staying.map(async ({ process }) => ({ process, end: await process.ended })))
    const deadline = new AbortController()
    const ends = await Promise.race([left, wait(PATIENCE_WITH_LEAVING_MS, null, { signal: deadline.signal })])
    deadline.abort()
    if (ends === null) throw new Error(`Workers did not leave within ${PATIENCE_WITH_LEAVING_MS / 1000} s of being asked`)
    for (const { process, end } of ends) if (end.status !== 0) throw endedBadly(process, end)
    // Those that were killed may still have been writing reports that were not read yet.
    await Promise.all(this.#processes.map((process) => process.ended))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const process of this.#processes) process.kill()
    await Promise.all(this.#processes.map((process) => process.ended))
  }

  #launch(settings: WorkerSettings): void {
    const process = new WorkerProcess(settings, {
      reported: (report) => this.#record(process, report),
      wrote: (line) => this.#options.onOutput(settings.worker, line),
    })
    this.#processes.push(process)
    this.#members.set(process.worker, { process, state: 'starting', seesLeader: null, lastReport: null })
    void process.ended.then((end) => this.#recordEnd(process, end))
  }

  #record(process: WorkerProcess, report: WorkerReport): void {
    const { worker, pid } = process
    this.#terms.record(worker, pid, report)
    if (report.type === 'committed') {
      this.#position = Math.max(this.#position, report.position)
      this.#progressAt = performance.now()
    }
    const member = this.#members.get(worker)
    // What a killed process still had to say belongs to its term, but not to the process that replaced it.
    if (member?.process === process && member.state !== 'killed') this.#members.set(worker, withReport(member, report))
    this.#options.onReport(worker, report)
    this.#changed()
  }

  #recordEnd(process: WorkerProcess, end: WorkerEnd): void {
    const member = this.#members.get(process.worker)
    if (member?.process === process && member.state !== 'killed') this.#members.set(process.worker, { ...member, state: 'ended' })
    if (!process.isExpectedToEnd) this.#failure ??= endedBadly(process, end)
    this.#changed()
  }

  /** Resolves after the next report, or soon without one: time alone may be what changed. */
  #change(): Promise<void> {
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

function withReport(member: Member, report: WorkerReport): Member {
  switch (report.type) {
    case 'campaigning':
      return { ...member, lastReport: report, state: 'waiting' }
    case 'elected':
      return { ...member, lastReport: report, state: 'leading' }
    case 'lost':
      return { ...member, lastReport: report, state: 'waiting' }
    case 'sees_leader':
      return { ...member, seesLeader: report.leader }
    case 'leading':
      return member
    default:
      return { ...member, lastReport: report }
  }
}

function endedBadly({ worker, pid }: WorkerProcess, { status, signal }: WorkerEnd): Error {
  return new Error(
    `${worker} (process ${pid}) ended with ${signal ?? `status ${status}`}, and nobody had asked for that; what it wrote is above`,
  )
}
