import { until } from '@es/coordination-testing'
import { ChildProgram } from '../processes/child-program.js'
import type { WorkerCommand, WorkerProcessReport } from './worker-messages.js'

/** A worker in a process of its own. */
export class WorkerProgram extends ChildProgram<WorkerCommand, WorkerProcessReport> {
  readonly instanceId: string

  constructor(start: Omit<WorkerCommand & { readonly type: 'start' }, 'type'>) {
    super('worker-process.js')
    this.instanceId = start.instanceId
    this.tell({ type: 'start', ...start })
  }

  /** What it runs, by its reports. */
  get running(): ReadonlySet<string> {
    const running = new Set<string>()
    for (const report of this.reports) {
      if (report.type === 'run started') running.add(report.subscription)
      if (report.type === 'run ended') running.delete(report.subscription)
    }
    return running
  }

  get isLeader(): boolean {
    return this.reports.findLast((report) => report.type === 'leadership')?.isLeader ?? false
  }

  /** How often each subscription began to run here, from the given report on. */
  startsFrom(from: number): readonly string[] {
    return this.reports.slice(from).flatMap((report) => (report.type === 'run started' ? [report.subscription] : []))
  }

  /** When each of `subscriptions` last began to run here; infinite for those that never did. */
  startedAt(subscription: string): number {
    const start = this.reports.findLast((report) => report.type === 'run started' && report.subscription === subscription)
    return start?.type === 'run started' ? start.at : Number.POSITIVE_INFINITY
  }

  /** When the run of `subscription` last ended here. */
  endedAt(subscription: string): number {
    const end = this.reports.findLast((report) => report.type === 'run ended' && report.subscription === subscription)
    return end?.type === 'run ended' ? end.at : Number.POSITIVE_INFINITY
  }
}

/** Workers that share subscriptions, a process each, on one database. */
export class WorkerCluster implements AsyncDisposable {
  readonly #connection: string
  readonly #subscriptions: readonly string[]
  readonly #workers = new Map<string, WorkerProgram>()

  constructor(connection: string, subscriptionCount: number) {
    this.#connection = connection
    this.#subscriptions = Array.from({ length: subscriptionCount }, (_, index) => `subscription-${index}`)
  }

  /** Those alive. */
  get workers(): readonly WorkerProgram[] {
    return [...this.#workers.values()]
  }

  get leader(): WorkerProgram {
    const leader = this.workers.find(({ isLeader }) => isLeader)
    if (leader === undefined) throw new Error('Nobody leads')
    return leader
  }

  start(instanceId: string): WorkerProgram {
    const worker = new WorkerProgram({ instanceId, connection: this.#connection, subscriptions: this.#subscriptions })
    this.#workers.set(instanceId, worker)
    return worker
  }

  /** Kills `worker` with all it runs; returns the time. */
  kill(worker: WorkerProgram): number {
    this.#workers.delete(worker.instanceId)
    return worker.signal('SIGKILL')
  }

  /** Lets `worker` leave in order; resolves when its process has ended. */
  async stop(worker: WorkerProgram): Promise<void> {
    worker.signal('SIGTERM')
    await worker.ended()
    this.#workers.delete(worker.instanceId)
  }

  /** Resolves when everything runs once, and as evenly as can be. */
  async untilBalanced(): Promise<void> {
    const least = Math.floor(this.#subscriptions.length / this.#workers.size)
    const isBalanced = (): boolean => {
      const sizes = this.workers.map(({ running }) => running.size)
      return Math.min(...sizes) >= least && sizes.reduce((sum, size) => sum + size, 0) === this.#subscriptions.length
    }
    await until(isBalanced, { what: 'the work to be shared out evenly', withinSeconds: 60, everySeconds: 0.02 })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.workers.map((worker) => worker[Symbol.asyncDispose]()))
  }
}
