import type { SimulatedInstance, Surroundings } from '@es/coordination-testing'
import { CoordinatedWorker } from '@es/coordination-worker'
import { describeWorkerEvent } from './describe-worker-event.js'

const LEAVING: readonly string[] = ['draining', 'terminated']

/** A real worker in simulated surroundings. */
export function createWorker({ timings, report, abandoned, ...surroundings }: Surroundings): SimulatedInstance {
  const worker = new CoordinatedWorker({ ...surroundings, ...timings })
  worker.onEvent((event) => {
    if (event.type === 'run_abandoned') abandoned(event.subscription)
    const line = describeWorkerEvent(event)
    if (line !== null) report(line)
  })
  return {
    start: () => worker.start(),
    stop: ({ drainSeconds }) => worker.stop(drainSeconds === undefined ? {} : { drainTimeoutSeconds: drainSeconds }),
    peers: () => new Map(worker.status().peers.map((peer) => [peer.instanceId, { ...peer, isLeaving: LEAVING.includes(peer.status) }])),
    problems() {
      const { problems, isReady } = worker.health()
      return isReady ? problems.map(({ code, message }) => `${code}: ${message}`) : ['it is not ready']
    },
  }
}
