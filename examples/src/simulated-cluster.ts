// Shows how to try adapters in simulated clusters: real workers in one process, in virtual time, while whatever can go wrong does. The adapters here are the
// in-memory ones, and stand for yours: what a backend keeps for silent instances, and what its network loses, the simulation adds.
import assert from 'node:assert/strict'
import { InMemoryLeaderElector, InMemoryOwnership, SharedClaims, SharedLeaderState } from '@es/coordination-memory'
import { type CreateBackend, type CreateInstance, explore, formatTranscript, simulate } from '@es/coordination-testing'
import { CoordinatedWorker } from '@es/coordination-worker'

/** One backend a simulation, and on it the adapters of each life of each instance. */
const createBackend: CreateBackend = () => {
  const election = new SharedLeaderState()
  const claims = new SharedClaims()
  return {
    connect({ instanceId, logger }) {
      const elector = new InMemoryLeaderElector(instanceId, { sharedState: election, logger })
      const ownership = new InMemoryOwnership(instanceId, { claims })
      return {
        elector,
        ownership,
        // What the backend does when it has not heard an instance for a lease.
        endSession() {
          ownership.forceLose()
          void elector.forceEndSession()
        },
        close: () => ownership.close(),
      }
    },
  }
}

/** One life of one instance: everything outside it is simulated, time and chance included. */
const createInstance: CreateInstance = ({ timings, abandoned, ...surroundings }) => {
  const worker = new CoordinatedWorker({ ...surroundings, ...timings })
  worker.onEvent((event) => {
    if (event.type === 'run_abandoned') abandoned(event.subscription)
  })
  return {
    start: () => worker.start(),
    stop: () => worker.stop(),
    problems: () => worker.health().problems.map(({ message }) => message),
  }
}

// One scenario, written down.
const result = await simulate(
  {
    seed: 1,
    subscriptions: 4,
    steps: [
      { do: 'start', who: 'a' },
      { do: 'start', who: 'b', afterSeconds: 0.1 },
      { do: 'crash', who: 'the leader', afterSeconds: 5 },
      { do: 'wait', afterSeconds: 5 },
    ],
  },
  { createBackend, createInstance },
)
console.log(formatTranscript(result.transcript))
assert.deepEqual(result.faults, [])
assert.deepEqual(
  result.history.flatMap((event) => (event.type === 'elected' ? [event.instanceId] : [])),
  ['a', 'b'],
)

// And many that nobody thought of.
const figures = await explore({ createBackend, createInstance, scenarios: 20, seed: 1 })
console.log(`${figures.scenarios} scenarios, ${Math.round(figures.seconds)} s simulated, ${figures.terms} terms: nothing went wrong`)
assert.ok(figures.terms > figures.scenarios)
