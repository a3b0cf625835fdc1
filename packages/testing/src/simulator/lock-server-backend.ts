import type { Transport } from '@es/coordination-core'
import { LockClient } from './lock-client.js'
import type { LockCheck } from './lock-connection.js'
import { LockElector } from './lock-elector.js'
import { LockOwnership } from './lock-ownership.js'
import { LockServer } from './lock-server.js'
import { NetworkTransport } from './network-transport.js'
import type { CreateBackend, SimulatedAdapters, SimulatedPlace } from './surroundings.js'

/** How the built-in backend is to be wrong, for those who want to see that it is found. */
export interface LockServerBackendOptions {
  /** How long an instance trusts its locks after a renewal was sent; beyond the lease it is wrong. @default renewDeadlineSeconds of the timings */
  readonly renewDeadlineSeconds?: number
  /** How a renewal asks. @default it looks which locks the session holds */
  readonly check?: LockCheck
}

/** The adapters of {@link lockServerBackend}: all that `SimulatedAdapters` has. */
export type LockServerAdapters = Required<Omit<SimulatedAdapters, 'ownership'>> & Pick<SimulatedAdapters, 'ownership'>

/**
 * The built-in backend: a server of session locks with leases that it enforces, and on each instance an elector and an ownership that share one session on
 * it, and a transport over the simulated network. To be wrong on purpose, wrap what it makes.
 */
export function lockServerBackend({
  renewDeadlineSeconds,
  check = (session) => session.check(),
}: LockServerBackendOptions = {}): CreateBackend {
  return ({ clock, timings }) => {
    const server = new LockServer({ clock, leaseSeconds: timings.leaseSeconds })
    return {
      connect: (place) => connect(place, server, { renewDeadlineSeconds: renewDeadlineSeconds ?? timings.renewDeadlineSeconds, check }),
      outage: { begin: () => server.goDown(), end: () => server.comeUp() },
      leftovers: () => server.locks,
      get statements() {
        return server.statements
      },
    }
  }
}

function connect(place: SimulatedPlace, server: LockServer, options: Required<LockServerBackendOptions>): LockServerAdapters {
  const { instanceId, clock, random, logger, wire, network, timings, hasOwnership } = place
  const { leaseSeconds, requestTimeoutSeconds, pollSeconds, longestRetrySeconds } = timings
  const locks = new LockClient({
    ...{ server, wire, clock, leaseSeconds, requestTimeoutSeconds, name: instanceId, ...options },
    trusted: (untilSeconds) => place.trusted(untilSeconds),
  })
  const elector = new LockElector(instanceId, locks, { clock, logger, random, pollSeconds, longestRetrySeconds })
  const ownership = hasOwnership ? new LockOwnership(instanceId, locks) : null
  const transport: Transport & { close(): void } = new NetworkTransport(instanceId, network, logger)
  return {
    ...{ elector, transport, usesWire: true, ...(ownership && { ownership }) },
    endSession: () => locks.endSession(),
    async close() {
      ownership?.close()
      await elector.release().catch(() => {})
      locks.close()
      transport.close()
    },
  }
}
