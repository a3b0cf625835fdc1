import { setTimeout as delay } from 'node:timers/promises'
import { until } from '@es/coordination-testing'
import { alternate } from '../alternate.js'
import type { BenchmarkContext, BenchmarkGroup, Measurement } from '../benchmark.js'
import { Alternation } from '../candidates/alternation.js'
import { scratchDatabase } from '../scratch-database.js'
import { medianBelowSeconds, neverAboveSeconds, ratioAtMost } from '../targets.js'
import { WorkerCluster, type WorkerProgram } from '../workers/worker-cluster.js'

const MOVES = 25
const KILLS = 4
const HEARTBEAT_TIMEOUT_SECONDS = 15

/** One subscription that is sent to and fro between two workers: seconds in which neither runs it. */
async function plannedMoves({ databaseUrl }: BenchmarkContext): Promise<Measurement> {
  await using database = await scratchDatabase(databaseUrl)
  await using cluster = new WorkerCluster(database.url, 1)
  const [one, other] = [cluster.start('one'), cluster.start('other')]
  await using raw = await Alternation.between('raw lock', databaseUrl)
  const owner = (): WorkerProgram | undefined => cluster.workers.find(({ running }) => running.size === 1)
  await until(owner, { what: 'somebody to run it', withinSeconds: 60 })
  const move = async (): Promise<number> => {
    const from = owner()
    const to = from === one ? other : one
    const before = to.reports.length
    // Whoever leads: the direction stays with the process.
    for (const worker of cluster.workers) worker.tell({ type: 'direct', to: to.instanceId })
    const { at, subscription } = await to.report(
      'that it runs the subscription',
      (report): report is typeof report & { readonly type: 'run started' } => report.type === 'run started',
      {
        from: before,
      },
    )
    return at - (from?.endedAt(subscription) ?? Number.NaN)
  }
  return { unit: 'duration', ...(await alternate(MOVES, move, () => raw.handover(), 2)) }
}

/** Seconds from the death of one of two workers with a hundred subscriptions each until all of them run again. */
async function kills({ databaseUrl }: BenchmarkContext, whom: (cluster: WorkerCluster) => WorkerProgram): Promise<Measurement> {
  await using database = await scratchDatabase(databaseUrl)
  await using cluster = new WorkerCluster(database.url, 200)
  cluster.start('one')
  cluster.start('other')
  const samples: number[] = []
  const losses: number[] = []
  for (let kill = 0; kill < KILLS; kill++) {
    await cluster.untilBalanced()
    // Anywhere between two looks at the claims.
    await delay(1000 + (kill / KILLS) * 500)
    const victim = whom(cluster)
    const lost = victim.running
    const killedAt = cluster.kill(victim)
    await cluster.untilBalanced()
    const [survivor] = cluster.workers
    samples.push(Math.max(...[...lost].map((subscription) => (survivor?.startedAt(subscription) ?? Number.NaN) - killedAt)))
    losses.push(lost.size)
    cluster.start(victim.instanceId)
  }
  return {
    unit: 'duration',
    samples,
    beside: samples.map(() => HEARTBEAT_TIMEOUT_SECONDS),
    facts: { 'a hundred subscriptions each time': losses.every((size) => size === 100) },
  }
}

/** Moves in each step of a rolling restart: of a departure, and of a return. */
async function rollingRestart({ databaseUrl }: BenchmarkContext): Promise<Measurement> {
  await using database = await scratchDatabase(databaseUrl)
  await using cluster = new WorkerCluster(database.url, 200)
  const ids = ['a', 'b', 'c', 'd', 'e']
  for (const id of ids) cluster.start(id)
  await cluster.untilBalanced()
  const samples: number[] = []
  const fewest: number[] = []
  let movedTwice = false
  const step = async (change: () => Promise<number>): Promise<void> => {
    // The processes of before, of which one may be gone in the end, and how much each had said.
    const before = new Map(cluster.workers.map((worker) => [worker, worker.reports.length]))
    fewest.push(await change())
    await cluster.untilBalanced()
    const workers = new Set([...before.keys(), ...cluster.workers])
    const starts = [...workers].flatMap((worker) => worker.startsFrom(before.get(worker) ?? 0))
    samples.push(starts.length)
    if (new Set(starts).size < starts.length) movedTwice = true
  }
  for (const id of ids) {
    await step(async () => {
      const leaver = cluster.workers.find(({ instanceId }) => instanceId === id)
      const leaving = leaver?.running.size ?? 0
      if (leaver !== undefined) await cluster.stop(leaver)
      return leaving
    })
    await step(async () => {
      cluster.start(id)
      return 200 / ids.length
    })
  }
  return { unit: 'count', samples, beside: fewest, facts: { 'nothing moved twice in a step': !movedTwice } }
}

export const worker: BenchmarkGroup = {
  name: 'worker',
  needsServer: true,
  benchmarks: [
    {
      name: 'planned-move',
      what: 'a planned move of one subscription between two workers: time without an owner',
      beside: '`pg_advisory_unlock`, and a bare session blocked in `pg_advisory_lock`',
      targets: [medianBelowSeconds(0.025)],
      shortfall:
        'four messages and statements follow one another in it, each a wake-up of a process or of the server: the release, the heartbeat that tells of it, the assignment, the claim.',
      run: plannedMoves,
    },
    {
      name: 'owner-killed',
      what: 'a worker killed with SIGKILL: until all of its 100 subscriptions run again',
      beside: 'the heartbeat timeout of 15 s alone',
      targets: [neverAboveSeconds(2)],
      run: (context) => kills(context, ({ leader, workers }) => workers.find((one) => one !== leader) ?? leader),
    },
    {
      name: 'leader-killed',
      what: 'the same when it led as well',
      beside: 'the heartbeat timeout of 15 s alone',
      targets: [neverAboveSeconds(2)],
      run: (context) => kills(context, ({ leader }) => leader),
    },
    {
      name: 'rolling-restart',
      what: 'rolling restart of 5 workers with 200 subscriptions: moves in each departure and each return',
      beside: 'the fewest possible',
      targets: [ratioAtMost(1)],
      run: rollingRestart,
    },
  ],
}
