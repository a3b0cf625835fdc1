// Shows a rolling restart: three instances share six subscriptions and are replaced one after the other, as a deployment does it, while events keep
// coming. Nothing is lost and nothing is done twice, and only the work of the one that leaves moves. In memory, so that it takes a moment; the
// worker is the same with any adapter.
import assert from 'node:assert/strict'
import { ShutdownIntent, sleep } from '@es/coordination-core'
import {
  InMemoryLeaderElector,
  InMemoryOwnership,
  InMemoryTransport,
  SharedBus,
  SharedClaims,
  SharedLeaderState,
} from '@es/coordination-memory'
import { until } from '@es/coordination-testing'
import { CoordinatedWorker, type Run } from '@es/coordination-worker'

const subscriptions = ['orders', 'invoices', 'shipments', 'returns', 'payments', 'reviews']
const shared = { sharedState: new SharedLeaderState(), bus: new SharedBus(), claims: new SharedClaims() }

// What a database would hold: the log, and for each subscription its checkpoint and what was applied.
let logEnd = 0
const store = new Map(subscriptions.map((name) => [name, { position: 0, fencingToken: 0n, applied: [] as number[] }]))
let starts = 0

const run: Run = async (subscription, { signal, fencingToken }) => {
  starts++
  while (!signal.aborted) {
    const checkpoint = store.get(subscription)
    if (!checkpoint || fencingToken === null || checkpoint.fencingToken > fencingToken) throw new Error('A later owner has written already')
    checkpoint.fencingToken = fencingToken
    // A batch that was begun is finished, also when it is told to stop meanwhile.
    for (const end = Math.min(logEnd, checkpoint.position + 5); checkpoint.position < end; ) {
      checkpoint.applied.push(++checkpoint.position)
      await sleep(0.001)
    }
    await sleep(0.005, { signal }).catch(() => {})
  }
}

async function startWorker(instanceId: string): Promise<CoordinatedWorker> {
  const worker = new CoordinatedWorker({
    instanceId,
    subscriptions,
    run,
    elector: new InMemoryLeaderElector(instanceId, shared),
    transport: new InMemoryTransport(shared),
    ownership: new InMemoryOwnership(instanceId, shared),
    // The defaults suit clusters that live for longer than three seconds.
    ...{ heartbeatIntervalSeconds: 0.2, heartbeatTimeoutSeconds: 1, settleSeconds: 0.2 },
  })
  await worker.start()
  return worker
}

const workers = new Map<string, CoordinatedWorker>()
for (const instanceId of ['worker-1', 'worker-2', 'worker-3']) workers.set(instanceId, await startWorker(instanceId))
const feeding = setInterval(() => void logEnd++, 2)
await untilShared()

for (const [instanceId, worker] of workers) {
  const { abandoned } = await worker.stop({ intent: ShutdownIntent.Maintenance })
  assert.deepEqual(abandoned, [], 'every run ended in time')
  workers.set(instanceId, await startWorker(instanceId))
  await untilShared()
  console.log(`${instanceId} was replaced; it runs ${running(instanceId).join(' and ')}`)
}

clearInterval(feeding)
await until(() => [...store.values()].every(({ position }) => position === logEnd), { what: 'the end of the log', withinSeconds: 20 })
await Promise.all([...workers.values()].map((worker) => worker.stop()))

const log = Array.from({ length: logEnd }, (_, index) => index + 1)
for (const [subscription, { applied }] of store) assert.deepEqual(applied, log, `${subscription} applied every event once, in order`)
// Two move away from each worker that leaves, and two come back to the one that replaces it.
const fewest = subscriptions.length + workers.size * (2 + 2)
assert.ok(starts <= fewest * 1.5, `${starts} starts, and ${fewest} would have done`)
console.log(
  `${logEnd} events for each of ${subscriptions.length} subscriptions, none lost, none twice; ${starts} starts, the fewest possible`,
)

function running(instanceId: string): string[] {
  const work = workers.get(instanceId)?.status().work ?? []
  return work.filter(({ phase }) => phase === 'running').map(({ subscription }) => subscription)
}

async function untilShared(): Promise<void> {
  const isShared = (): boolean => [...workers.keys()].every((instanceId) => running(instanceId).length === 2)
  await until(isShared, { what: 'two subscriptions for each', withinSeconds: 20 })
}
