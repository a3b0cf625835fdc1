import { type Clock, type Logger, systemClock } from '@es/coordination-core'
import { describe, it } from 'vitest'
import { leaderElectorConformance } from '../elector-conformance/leader-elector-conformance.js'
import { ownershipConformance } from '../ownership-conformance/ownership-conformance.js'
import { transportConformance } from '../transport-conformance/transport-conformance.js'
import { GatedElector } from './gated-elector.js'
import { GatedOwnership } from './gated-ownership.js'
import { GatedTransport } from './gated-transport.js'
import { LifeRecord } from './life-record.js'
import { LockClient } from './lock-client.js'
import { LockElector } from './lock-elector.js'
import { LockOwnership } from './lock-ownership.js'
import { LockServer } from './lock-server.js'
import { NetworkTransport } from './network-transport.js'
import { SeededRandom } from './seeded-random.js'
import { SimulatedNetwork } from './simulated-network.js'
import { SimulatedProcess } from './simulated-process.js'
import { Transcript } from './transcript.js'
import { type BackendFault, Wire } from './wire.js'

// In real time, as the suites need it: what they say holds on any clock.
const clock: Clock = systemClock
const LEASE_SECONDS = 0.6
const chronicle = {
  history: [],
  transcript: new Transcript(() => clock.monotonicSeconds(), false),
  isKept: false,
  now: () => clock.monotonicSeconds(),
}

class Contender {
  readonly faults: BackendFault[] = []
  readonly process = new SimulatedProcess({ clock })
  readonly wire: Wire
  readonly locks: LockClient
  readonly elector: GatedElector
  readonly ownership: GatedOwnership

  constructor(name: string, server: LockServer, logger: Logger) {
    this.wire = new Wire({ clock, process: this.process, random: new SeededRandom(1, name), faults: () => this.faults })
    this.locks = new LockClient({
      ...{ server, name, clock: this.process, wire: this.wire, leaseSeconds: LEASE_SECONDS },
      ...{ renewDeadlineSeconds: LEASE_SECONDS * 0.9, requestTimeoutSeconds: 0.3, trusted: () => {}, check: (session) => session.check() },
    })
    const gate = { process: this.process, record: new LifeRecord(name, this.process, chronicle), wire: null }
    const random = (): number => 0.5
    this.elector = new GatedElector(
      new LockElector(name, this.locks, { clock: this.process, logger, random, pollSeconds: 0.05, longestRetrySeconds: 0.1 }),
      gate,
    )
    this.ownership = new GatedOwnership(new LockOwnership(name, this.locks), gate)
  }

  cut(): () => Promise<void> {
    const fault = { isCut: true }
    this.faults.push(fault)
    return async () => {
      this.faults.splice(this.faults.indexOf(fault), 1)
      this.wire.mend()
    }
  }
}

interface Contest {
  readonly all: readonly [Contender, Contender]
}

function openContest(logger: Logger): Contest {
  const server = new LockServer({ clock, leaseSeconds: LEASE_SECONDS })
  return { all: [new Contender('a', server, logger), new Contender('b', server, logger)] }
}

function cutAll({ all }: Contest): () => Promise<void> {
  const mends = all.map((contender) => contender.cut())
  return async () => {
    for (const mend of mends) await mend()
  }
}

function contenderOf({ all: [a, b] }: Contest, name: string): Contender {
  return name === 'a' ? a : b
}

leaderElectorConformance(
  { describe, it },
  {
    name: 'the elector of a simulated lock server',
    async open({ logger }) {
      const contest = openContest(logger)
      const [a, b] = contest.all
      return {
        ...contest,
        contenders: [a.elector, b.elector] as const,
        async close() {
          for (const { locks } of contest.all) locks.close()
        },
      }
    },
    powers: {
      ...{ fencingToken: true, campaign: true, logging: true },
      loseLeadership: async (election, { identity }) => contenderOf(election, identity).locks.endSession(),
      hang: async (election) => cutAll(election),
      leaseExpiry: { leaseSeconds: LEASE_SECONDS, cutOff: async (election, { identity }) => contenderOf(election, identity).cut() },
    },
  },
)

ownershipConformance(
  { describe, it },
  {
    name: 'the ownership of a simulated lock server',
    async open({ logger }) {
      const contest = openContest(logger)
      const [a, b] = contest.all
      return {
        ...contest,
        contenders: [a.ownership, b.ownership] as const,
        async close() {
          for (const { locks } of contest.all) locks.close()
        },
      }
    },
    powers: {
      namesHolders: true,
      loseClaims: async (contest, { instanceId }) => contenderOf(contest, instanceId).locks.endSession(),
      async disconnect(contest, { instanceId }) {
        const { faults, locks, wire } = contenderOf(contest, instanceId)
        const fault = { refuses: true }
        faults.push(fault)
        locks.endSession()
        return async () => {
          faults.splice(faults.indexOf(fault), 1)
          wire.mend()
        }
      },
      hang: async (contest) => cutAll(contest),
      leaseExpiry: { leaseSeconds: LEASE_SECONDS, cutOff: async (contest, { instanceId }) => contenderOf(contest, instanceId).cut() },
    },
  },
)

transportConformance(
  { describe, it },
  {
    name: 'the transport over a simulated network',
    async open({ logger }) {
      const network = new SimulatedNetwork({ clock, random: new SeededRandom(1, 'network') })
      const open = (name: string): GatedTransport =>
        new GatedTransport(new NetworkTransport(name, network, logger), { logger, process: new SimulatedProcess({ clock }) })
      return { network, transports: [open('a'), open('b'), open('c')] as const, close: async () => {} }
    },
    powers: {
      ...{ loopback: true, logging: true, carriesBytes: 1_000_000 },
      async disconnect(_medium, transport) {
        const gated = transport as GatedTransport
        gated.cut()
        return async () => gated.mend()
      },
      async garbage({ network }, topic) {
        network.send('somebody', topic, 'no object' as never)
      },
    },
  },
)
