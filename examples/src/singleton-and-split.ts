// Shows singleton work next to shared work, in one worker: subscriptions are split among the instances, and one thing is done by the leader alone, here
// a clock that ticks once for the whole cluster. When the leader leaves, its singleton work ends first and begins elsewhere, and its
// subscriptions move. In memory; the worker is the same with any adapter.
import assert from 'node:assert/strict'
import { sleep } from '@es/coordination-core'
import {
  InMemoryLeaderElector,
  InMemoryOwnership,
  InMemoryTransport,
  SharedBus,
  SharedClaims,
  SharedLeaderState,
} from '@es/coordination-memory'
import { until } from '@es/coordination-testing'
import { CoordinatedWorker } from '@es/coordination-worker'

const subscriptions = ['orders', 'invoices', 'shipments', 'returns']
const shared = { sharedState: new SharedLeaderState(), bus: new SharedBus(), claims: new SharedClaims() }

/** Who does what at this moment, told by the work itself. */
const running = new Map<string, string>()
const ticking = new Set<string>()
const ticks: { readonly by: string; readonly term: bigint | null }[] = []
const violations: string[] = []

async function startWorker(instanceId: string): Promise<CoordinatedWorker> {
  const worker = new CoordinatedWorker({
    instanceId,
    subscriptions,
    elector: new InMemoryLeaderElector(instanceId, shared),
    transport: new InMemoryTransport(shared),
    ownership: new InMemoryOwnership(instanceId, shared),
    // Split: each subscription in one instance.
    async run(subscription, { signal }) {
      if (running.has(subscription)) violations.push(`${subscription} ran twice`)
      running.set(subscription, instanceId)
      await untilAborted(signal)
      running.delete(subscription)
    },
    // Singleton: in the leader alone. `term` is the fencing token of what it writes.
    async leaderWork(signal, term) {
      if (ticking.size > 0) violations.push('the clock ticked in two places')
      ticking.add(instanceId)
      while (!signal.aborted) {
        ticks.push({ by: instanceId, term })
        await sleep(0.01, { signal }).catch(() => {})
      }
      ticking.delete(instanceId)
    },
    ...{ heartbeatIntervalSeconds: 0.2, heartbeatTimeoutSeconds: 1, settleSeconds: 0.2 },
  })
  await worker.start()
  return worker
}

const workers = [await startWorker('worker-1'), await startWorker('worker-2')]
const shareOf = ({ instanceId }: CoordinatedWorker): number => [...running.values()].filter((owner) => owner === instanceId).length
await until(() => workers.every((worker) => shareOf(worker) === 2) && ticks.length > 5, {
  what: 'work that is shared, and ticks',
  withinSeconds: 20,
})
console.log(
  `Split: ${[...running].map(([subscription, owner]) => `${subscription} in ${owner}`).join(', ')}; the clock ticks in ${ticks.at(-1)?.by}`,
)

const leader = workers.find(({ instanceId }) => ticks.at(-1)?.by === instanceId)
const follower = workers.find((worker) => worker !== leader)
assert.ok(leader && follower)
const firstTerm = ticks.at(-1)?.term ?? 0n
await leader.stop()
await until(() => shareOf(follower) === 4 && ticks.at(-1)?.by === follower.instanceId, {
  what: 'everything in the other one',
  withinSeconds: 20,
})
assert.ok((ticks.at(-1)?.term ?? 0n) > firstTerm, 'the term that follows has a larger token')
console.log(`${leader.instanceId} left; ${follower.instanceId} runs all subscriptions, and the clock ticks there`)
await follower.stop()
assert.deepEqual(violations, [])
assert.deepEqual([running.size, ticking.size], [0, 0], 'nothing goes on after the last has left')

async function untilAborted(signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
