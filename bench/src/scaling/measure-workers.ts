import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { PostgresCoordination } from '@es/coordination-postgres'
import { until } from '@es/coordination-testing'
import { CoordinatedWorker } from '@es/coordination-worker'
import { Observer } from '../observer.js'
import { scratchDatabase } from '../scratch-database.js'
import { silentLogger } from '../silent-logger.js'
import { countStatements, usage } from '../workers/usage.js'
import type { WorkersFigures } from './server-figures.js'
import { ownSeconds, processorSeconds, sessionProcesses } from './server-processes.js'
import { subscriptionNames, WINDOW_SECONDS } from './simulate-cluster.js'

const SUBSCRIPTIONS_EACH = 10
/** A heartbeat interval and more, after the last change. */
const REST_SECONDS = 6

/** Real workers at their defaults in one process on a real server, while nothing changes. */
export async function measureWorkers(databaseUrl: string, instances: number): Promise<WorkersFigures> {
  countStatements()
  await using database = await scratchDatabase(databaseUrl)
  await using observer = new Observer(database.url)
  const subscriptions = subscriptionNames(instances * SUBSCRIPTIONS_EACH)
  const running = new Map<string, number>()
  const coordinations = Array.from({ length: instances }, (_, index) => {
    return new PostgresCoordination({ instanceId: `instance-${index}`, connection: database.url, logger: silentLogger })
  })
  const workers = coordinations.map((coordination) => {
    const { elector, ownership, transport } = coordination
    const { instanceId } = ownership
    const add = (count: number): unknown => running.set(instanceId, (running.get(instanceId) ?? 0) + count)
    return new CoordinatedWorker({
      ...{ instanceId, subscriptions, elector, ownership, transport, logger: silentLogger, dispose: [coordination] },
      async run(_subscription, { signal }) {
        add(1)
        if (!signal.aborted) await once(signal, 'abort')
        add(-1)
      },
    })
  })
  await using _workers = { [Symbol.asyncDispose]: async () => void (await Promise.all(workers.map((worker) => worker.stop()))) }
  // A crowd that connects at once may wait for longer than a connection is given, and those that start one after the other are answered by all, each time.
  for (const { transport } of coordinations) await transport.connect()
  await Promise.all(workers.map((worker) => worker.start()))
  const isShared = (): boolean => running.size === instances && [...running.values()].every((count) => count === SUBSCRIPTIONS_EACH)
  await until(isShared, { what: 'the work to be shared out evenly', withinSeconds: 60 })
  await delay(REST_SECONDS * 1000)
  const processes = await sessionProcesses(observer)
  const before = { ...usage(), serverSeconds: await processorSeconds(processes), clientSeconds: ownSeconds() }
  await delay(WINDOW_SECONDS * 1000)
  const serverSeconds = (await processorSeconds(processes)) - before.serverSeconds
  const clientSeconds = ownSeconds() - before.clientSeconds
  const { at, statements } = usage()
  const seconds = at - before.at
  return {
    ...{ instances, subscriptions: subscriptions.length, connections: processes.length },
    serverSeconds: serverSeconds / seconds,
    clientSeconds: clientSeconds / seconds,
    statements: (statements - before.statements) / seconds,
  }
}
