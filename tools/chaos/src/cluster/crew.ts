import { join } from 'node:path'
import { sleep } from '@es/coordination-core'
import { until } from '@es/coordination-testing'
import type { ClusterSettings } from '../cluster-settings.js'
import type { HistoryFile } from '../history-file.js'
import { SLOTS } from '../plan/schedule.js'
import type { Sabotage, WorkerOrder, WorkerReport, WorkerSettings } from '../worker/worker-settings.js'
import { ChildProgram, describeEnd } from './child-program.js'
import type { Janitor } from './janitor.js'
import type { Link } from './link.js'

/** The process that is in a slot at present. */
export interface Member {
  readonly instanceId: string
  readonly process: ChildProgram
  readonly isReady: boolean
  readonly leads: boolean
  readonly owns: number
}

/** What a {@link Crew} is made of. */
export interface CrewOptions {
  readonly links: readonly Link[]
  readonly cluster: ClusterSettings
  readonly subscriptions: readonly string[]
  readonly sabotage: Sabotage | null
  /** Where the histories and the output of the workers are kept. */
  readonly folder: string
  /** The history of what is done to them. */
  readonly history: HistoryFile
  readonly janitor: Janitor
  /** Ends every wait. */
  readonly signal: AbortSignal
  /** Told of a process that ended by itself. */
  readonly onSurprise: (what: string) => void
}

const READY_WITHIN_SECONDS = 60
const LEAVE_WITHIN_SECONDS = 20

/** The workers: one process in each slot, and another one after that has ended. Disposal leaves none behind. */
export class Crew implements AsyncDisposable {
  readonly #options: CrewOptions
  readonly #members: Member[] = []
  readonly #lives = SLOTS.map(() => 1)
  readonly #unblocked = new Map<ChildProgram, () => void>()
  readonly #processes = new Set<ChildProgram>()
  #starts = 0

  constructor(options: CrewOptions) {
    this.#options = options
  }

  /** How many processes were started. */
  get starts(): number {
    return this.#starts
  }

  /** @throws Error when the slot is empty. */
  member(slot: number): Member {
    const member = this.#members[slot]
    if (member === undefined) throw new Error(`No worker is in slot ${slot}`)
    return member
  }

  get slots(): readonly number[] {
    return [...SLOTS.keys()]
  }

  link(slot: number): Link {
    const link = this.#options.links[slot]
    if (link === undefined) throw new Error(`There is no slot ${slot}`)
    return link
  }

  /** Starts a worker in `slot`, under the id of the one before or a new one. */
  start(slot: number, { rename = false }: { readonly rename?: boolean } = {}): void {
    const { folder, janitor, cluster, subscriptions, sabotage, onSurprise } = this.#options
    if (rename) this.#lives[slot] = (this.#lives[slot] ?? 0) + 1
    const life = this.#lives[slot] ?? 1
    const instanceId = `worker-${slot + 1}${life > 1 ? `-${life}` : ''}`
    const { connection, prefix } = this.link(slot)
    const settings: WorkerSettings = {
      ...{ instanceId, connection, subscriptions, cluster },
      elector: SLOTS[slot]?.elector ?? 'shared',
      history: join(folder, `${instanceId}.jsonl`),
      // One that does without claims is enough.
      sabotage: sabotage === 'double-run' && slot > 0 ? null : sabotage,
    }
    this.#starts++
    const process = new ChildProgram({
      ...{ program: 'worker-process', settings, prefix, janitor, onSurprise },
      log: join(folder, `${instanceId}.log`),
      onMessage: (report: WorkerReport) => this.#hear(slot, process, report),
    })
    this.#processes.add(process)
    this.#members[slot] = { instanceId, process, isReady: false, leads: false, owns: 0 }
    void process.ended.then(() => this.#processes.delete(process))
  }

  /** Resolves when the worker in `slot` takes part. @throws the signal's reason. */
  async ready(slot: number): Promise<void> {
    const { signal } = this.#options
    const { instanceId } = this.member(slot)
    await until(() => signal.aborted || this.member(slot).isReady, {
      what: `${instanceId} to take part`,
      withinSeconds: READY_WITHIN_SECONDS,
    })
    signal.throwIfAborted()
  }

  /** How many subscriptions have an owner, as far as is known. */
  get owned(): number {
    return this.#members.reduce((sum, { owns }) => sum + owns, 0)
  }

  /** Keeps the event loop of the worker in `slot` from turning; resolves when it turns again, or the process has ended. */
  async block(slot: number, seconds: number): Promise<void> {
    const { process } = this.member(slot)
    const over = new Promise<void>((resolve) => this.#unblocked.set(process, resolve))
    process.send({ type: 'block', seconds } satisfies WorkerOrder)
    await Promise.race([over, process.ended])
    this.#unblocked.delete(process)
  }

  /** SIGKILL, recorded; resolves when the process is gone. */
  async kill(slot: number): Promise<void> {
    const { instanceId, process } = this.member(slot)
    this.#options.history.record({ type: 'crashed', instanceId })
    process.signal('SIGKILL')
    this.#change(slot, { isReady: false, leads: false, owns: 0 })
    await process.ended
  }

  /** SIGSTOP, recorded: it stands still, and its connections stay open. */
  pause(slot: number): void {
    const { instanceId, process } = this.member(slot)
    this.#options.history.record({ type: 'paused', instanceId })
    process.signal('SIGSTOP')
  }

  /** SIGCONT, recorded. */
  resume(slot: number): void {
    const { instanceId, process } = this.member(slot)
    this.#options.history.record({ type: 'resumed', instanceId })
    process.signal('SIGCONT')
  }

  /** SIGTERM, and waits until it has left. @throws Error when it does not, or ends with a status other than 0; the signal's reason. */
  async terminate(slot: number): Promise<void> {
    const { instanceId, process } = this.member(slot)
    process.signal('SIGTERM')
    const end = await within(LEAVE_WITHIN_SECONDS, this.#options.signal, process.ended)
    if (end === null) throw new Error(`${instanceId} did not leave within ${LEAVE_WITHIN_SECONDS} s of SIGTERM`)
    if (end.status !== 0) throw new Error(`${instanceId} left with ${describeEnd(end)}`)
  }

  /** The slot of whoever leads, as far as is known. */
  get leaderSlot(): number | null {
    const slot = this.#members.findIndex(({ leads }) => leads)
    return slot < 0 ? null : slot
  }

  /** The slot of whoever owns most. */
  get ownerSlot(): number | null {
    const most = Math.max(...this.#members.map(({ owns }) => owns))
    return most > 0 ? this.#members.findIndex(({ owns }) => owns === most) : null
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#processes].map((process) => process[Symbol.asyncDispose]()))
  }

  #hear(slot: number, process: ChildProgram, report: WorkerReport): void {
    if (this.#members[slot]?.process !== process || process.mayEnd) return
    if (report.type === 'ready') this.#change(slot, { isReady: true })
    if (report.type === 'holds') this.#change(slot, { leads: report.leads, owns: report.owns })
    if (report.type === 'unblocked') this.#unblocked.get(process)?.()
  }

  #change(slot: number, change: Partial<Member>): void {
    const member = this.#members[slot]
    if (member) this.#members[slot] = { ...member, ...change }
  }
}

/** What `ended` resolves to, or `null` after `seconds`. @throws the signal's reason. */
async function within<T>(seconds: number, signal: AbortSignal, ended: Promise<T>): Promise<T | null> {
  const over = new AbortController()
  const timeout = sleep(seconds, { signal: AbortSignal.any([signal, over.signal]) }).then(() => null)
  try {
    return await Promise.race([ended, timeout])
  } finally {
    over.abort()
    timeout.catch(() => {})
  }
}
