import { setTimeout as delay } from 'node:timers/promises'
import type { BenchmarkContext, BenchmarkGroup, Measurement } from '../benchmark.js'
import { Observer } from '../observer.js'
import { ChildProgram } from '../processes/child-program.js'
import { scratchDatabase } from '../scratch-database.js'
import { median } from '../statistics.js'
import { percentBelow } from '../targets.js'
import { WorkerCluster } from '../workers/worker-cluster.js'
import type { UsageReport, WorkerCommand, WorkerProcessReport } from '../workers/worker-messages.js'

const WINDOWS = 4
const WINDOW_SECONDS = 5
const TELL_USAGE: WorkerCommand = { type: 'tell usage' }

type Watched = Pick<ChildProgram<WorkerCommand, WorkerProcessReport>, 'tell' | 'report' | 'reports'>

async function usageOf(program: Watched): Promise<UsageReport> {
  const from = program.reports.length
  program.tell(TELL_USAGE)
  return await program.report('what it used up', (report): report is UsageReport => report.type === 'usage', { from })
}

/** What a worker that leads and one that follows use while nothing happens. */
interface IdleWorkers {
  readonly leader: Measurement
  readonly follower: Measurement
}

/** Watches two idle workers, and a process that only polls. */
async function watchIdle({ databaseUrl }: BenchmarkContext): Promise<IdleWorkers> {
  await using database = await scratchDatabase(databaseUrl)
  await using polled = await scratchDatabase(databaseUrl)
  await using cluster = new WorkerCluster(database.url, 20)
  cluster.start('one')
  cluster.start('other')
  await using poller = new ChildProgram<WorkerCommand, UsageReport>('idle-sessions-process.js', { args: [polled.url] })
  await cluster.untilBalanced()
  const { leader } = cluster
  const watched: readonly Watched[] = [leader, ...cluster.workers.filter((one) => one !== leader), poller]
  const looks: UsageReport[][] = []
  for (let look = 0; look <= WINDOWS; look++) {
    await delay(WINDOW_SECONDS * 1000)
    looks.push(await Promise.all(watched.map(usageOf)))
  }
  await using observer = new Observer(database.url)
  const [sessions] = await observer.query<{ count: number }>(
    'SELECT count(*)::int AS count FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
  )
  const connections = (sessions?.count ?? Number.NaN) / cluster.workers.length
  const [leading, following, polling] = watched.map((_, index) => looks.map((reports) => reports[index] as UsageReport))
  const measurement = (usages: readonly UsageReport[] = []): Measurement => {
    const statements = median(eachWindow(usages, ({ statements: count }) => count))
    return {
      unit: 'percent',
      samples: eachWindow(usages, percentOfCore),
      beside: eachWindow(polling ?? [], percentOfCore),
      facts: { 'at most 2 connections': connections <= 2 },
      remarks: [`${statements.toFixed(1)} statements a second on ${connections} connections.`],
    }
  }
  return { leader: measurement(leading), follower: measurement(following) }
}

/** How fast something grew in each window. */
function eachWindow(usages: readonly UsageReport[], of: (usage: UsageReport) => number): number[] {
  return usages.slice(1).map((usage, index) => {
    const before = usages[index] as UsageReport
    return (of(usage) - of(before)) / (usage.at - before.at)
  })
}

const percentOfCore = ({ cpuSeconds }: UsageReport): number => cpuSeconds * 100

let watching: Promise<IdleWorkers> | null = null

/** Both rows are of the same workers, watched once. */
function watchOnce(context: BenchmarkContext): Promise<IdleWorkers> {
  watching ??= watchIdle(context)
  return watching
}

const beside = 'a process with two connections that sends `SELECT 1` twice a second'

export const idle: BenchmarkGroup = {
  name: 'idle',
  needsServer: true,
  benchmarks: [
    {
      name: 'leader',
      what: 'an idle worker that leads, with 20 subscriptions in two workers: share of a core',
      beside,
      targets: [percentBelow(0.5)],
      shortfall:
        'it wakes up for two looks at the lock table a second (`observeIntervalSeconds`), as the process beside it does for its polls, and plans anew after each; in a profile no function of it takes more than 3 %.',
      run: async (context) => (await watchOnce(context)).leader,
    },
    {
      name: 'follower',
      what: 'an idle worker that follows: share of a core',
      beside,
      targets: [percentBelow(0.5)],
      shortfall: 'it wakes up to ask for leadership twice a second (`pollSeconds`), as the process beside it does for its polls.',
      run: async (context) => (await watchOnce(context)).follower,
    },
  ],
}
