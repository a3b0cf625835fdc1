import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { HEARTBEAT_TOPIC, HeartbeatMessage, MessageDecoder, WorkRedistributionCoordinator } from '@es/coordination-core'
import type { BenchmarkGroup, Measurement } from '../benchmark.js'
import { compareInProcess, type InProcessWork } from '../in-process.js'
import { IN_PROCESS_TOLERANCE } from '../regression-check.js'
import { silentLogger } from '../silent-logger.js'
import { bytesBelow, medianBelowSeconds, rateAtLeast, ratioAtMost } from '../targets.js'

// A run of them is shorter than what interrupts it.
const MESSAGES = 100
const CHECKS = 100

function heartbeatOf(peer: number, sequence: number): HeartbeatMessage {
  return new HeartbeatMessage({
    instanceId: `worker-${peer}`,
    timestamp: new Date(1_767_268_800_000 + sequence),
    incarnation: `life-${peer}`,
    sequence,
  })
}

async function coordinatorWith(peers: number): Promise<WorkRedistributionCoordinator> {
  const coordinator = new WorkRedistributionCoordinator({
    instanceId: 'self',
    incarnation: 'own-life',
    // Long enough that nobody falls silent while this is measured.
    heartbeatTimeoutSeconds: 3600,
    logger: silentLogger,
  })
  for (let peer = 0; peer < peers; peer++) await coordinator.handleHeartbeat(heartbeatOf(peer, 0))
  return coordinator
}

/** {@link MESSAGES} heartbeats, each newer than the last; from run to run of every peer in turn. */
function heartbeatsTo(peers: number, handle: (heartbeat: HeartbeatMessage) => Promise<boolean>): InProcessWork {
  let sequence = 0
  let heartbeats: HeartbeatMessage[] = []
  return {
    operations: MESSAGES,
    prepare: () => {
      heartbeats = Array.from({ length: MESSAGES }, () => heartbeatOf(sequence % peers, ++sequence))
    },
    run: async () => {
      let taken = 0
      for (const heartbeat of heartbeats) if (await handle(heartbeat)) taken++
      if (taken !== MESSAGES) throw new Error(`Only ${taken} of ${MESSAGES} heartbeats were taken`)
    },
  }
}

async function handled(peers: number): Promise<InProcessWork> {
  const coordinator = await coordinatorWith(peers)
  return heartbeatsTo(peers, (heartbeat) => coordinator.handleHeartbeat(heartbeat))
}

async function checked(peers: number): Promise<InProcessWork> {
  const coordinator = await coordinatorWith(peers)
  return {
    operations: CHECKS,
    run: async () => {
      for (let check = 0; check < CHECKS; check++) {
        if ((await coordinator.checkPeerTimeouts()).length > 0) throw new Error('A peer has timed out')
      }
    },
  }
}

/** Bytes of heap for each peer: what is left of it after a collection, with and without them. */
async function memoryPerPeer(): Promise<Measurement> {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const used = (): number => {
    collect()
    collect()
    return process.memoryUsage().heapUsed
  }
  const PEERS = 50_000
  const decoder = new MessageDecoder({ logger: silentLogger })
  // Decoded, as it comes off a transport: a message that is made here shares its strings with its maker.
  const arrived = (peer: number): HeartbeatMessage => {
    const message = decoder.decode(HEARTBEAT_TOPIC, JSON.stringify(heartbeatOf(peer, 0).toDict()))
    if (message === null) throw new Error('A message was refused')
    return message
  }
  const bytesEach = async (known: { readonly size: number }, know: (peer: number) => unknown): Promise<number> => {
    const before = used()
    for (let peer = 0; peer < PEERS; peer++) await know(peer)
    const bytes = (used() - before) / PEERS
    if (known.size !== PEERS) throw new Error(`Knows ${known.size} of ${PEERS} peers`)
    return bytes
  }
  const samples: number[] = []
  const beside: number[] = []
  // Nothing of it may be collected while the next is measured.
  const kept: unknown[] = []
  // The first finds a heap that has not settled yet, and does not count.
  for (let repetition = 0; repetition < 4; repetition++) {
    const coordinator = await coordinatorWith(0)
    const table = {
      get size() {
        return coordinator.healthyPeerCount
      },
    }
    samples.push(await bytesEach(table, (peer) => coordinator.handleHeartbeat(arrived(peer))))
    const map = new Map<string, HeartbeatMessage>()
    beside.push(await bytesEach(map, (peer) => map.set(`worker-${peer}`, arrived(peer))))
    kept.push(coordinator, map)
  }
  return {
    unit: 'bytes',
    samples: samples.slice(1),
    beside: beside.slice(1),
    facts: { 'all are still known': kept.length === 2 * samples.length },
  }
}

export const coordinator: BenchmarkGroup = {
  name: 'coordinator',
  benchmarks: [
    {
      name: 'handle-heartbeat',
      what: '`handleHeartbeat` with 10,000 known peers',
      beside: 'an async function that only looks the sender up in a map',
      targets: [rateAtLeast(250_000)],
      tolerance: IN_PROCESS_TOLERANCE,
      async run() {
        const known = new Map(Array.from({ length: 10_000 }, (_, peer) => [`worker-${peer}`, peer]))
        const lookUp = heartbeatsTo(10_000, async ({ instanceId }) => known.has(instanceId))
        return compareInProcess({ unit: 'rate', measured: await handled(10_000), beside: lookUp })
      },
    },
    {
      name: 'handle-heartbeat-flat',
      what: '`handleHeartbeat` with 10,000 known peers',
      beside: 'the same with 10, which the processor has in its cache; a cost that grew with the number would be 1,000 x',
      targets: [ratioAtMost(4)],
      tolerance: IN_PROCESS_TOLERANCE,
      run: async () => compareInProcess({ unit: 'rate', measured: await handled(10_000), beside: await handled(10) }),
    },
    {
      name: 'check-peer-timeouts',
      what: '`checkPeerTimeouts` with 10,000 peers, none expired',
      beside: 'the same with 10',
      targets: [medianBelowSeconds(50e-6), ratioAtMost(2)],
      tolerance: IN_PROCESS_TOLERANCE,
      run: async () => compareInProcess({ unit: 'duration', measured: await checked(10_000), beside: await checked(10) }),
    },
    {
      name: 'memory-per-peer',
      what: 'memory of a known peer without subscriptions',
      beside: 'a map of the same messages',
      targets: [bytesBelow(1024)],
      tolerance: IN_PROCESS_TOLERANCE,
      run: memoryPerPeer,
    },
  ],
}
