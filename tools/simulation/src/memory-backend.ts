import {
  InMemoryLeaderElector,
  InMemoryOwnership,
  InMemoryTransport,
  SharedBus,
  SharedClaims,
  SharedLeaderState,
} from '@es/coordination-memory'
import type { CreateBackend, SimulatedNetwork } from '@es/coordination-testing'

/** The in-memory adapters in a simulated cluster: an example of adapters that know nothing of it. */
export const memoryBackend: CreateBackend = ({ clock }) => {
  const election = new SharedLeaderState()
  const claims = new SharedClaims()
  const bus = new SharedBus({ clock })
  return {
    connect({ instanceId, logger, network, hasOwnership }) {
      bus.faults = faultsOf(network)
      const elector = new InMemoryLeaderElector(instanceId, { sharedState: election, logger })
      const transport = new InMemoryTransport({ bus, name: instanceId, logger })
      const ownership = hasOwnership ? new InMemoryOwnership(instanceId, { claims }) : null
      return {
        ...{ elector, transport, ...(ownership && { ownership }) },
        endSession() {
          ownership?.forceLose()
          void elector.forceEndSession()
        },
        async close() {
          await elector.release()
          await ownership?.close()
          await transport.close()
        },
      }
    },
    leftovers: () => (election.currentLeader === null ? [] : [`the leadership of ${election.currentLeader}`]),
  }
}

/** The bus does to messages what the network of the simulation does. */
function faultsOf(network: SimulatedNetwork): SharedBus['faults'] {
  let delays: readonly number[] = []
  return {
    drop({ from, to, topic }) {
      delays = network.delaysOf({ from, to, topic })
      return delays.length === 0
    },
    copies: () => delays.length,
    delaySeconds: () => delays.at(-1) ?? 0,
  }
}
