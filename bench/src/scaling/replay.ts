import { type Transport, type TransportHandler, WORK_ASSIGNMENT_TOPIC } from '@es/coordination-core'
import { InMemoryLeaderElector, InMemoryOwnership, SharedClaims, SharedLeaderState } from '@es/coordination-memory'
import { ManualClock } from '@es/coordination-testing'
import { CoordinatedWorker } from '@es/coordination-worker'
import { silentLogger } from '../silent-logger.js'
import { median } from '../statistics.js'
import type { InstanceCost } from './cell.js'
import type { HeardMessage } from './traffic.js'

/** What one instance of a cluster heard, while nothing changed. */
export interface RecordedTraffic {
  readonly heard: readonly HeardMessage[]
  /** The last assignment of each instance. */
  readonly assignments: ReadonlyMap<string, Readonly<Record<string, unknown>>>
  /** When it began. */
  readonly from: number
  readonly leader: string
  readonly follower: string
}

/** How {@link replay} goes about it. */
export interface ReplayOptions {
  readonly traffic: RecordedTraffic
  readonly subscriptions: readonly string[]
  /** How long everybody takes to be heard: not measured. */
  readonly warmUpSeconds: number
  readonly windowSeconds: number
}

const SHORTEST_CPU_SECONDS = 0.5
const MOST_ROUNDS = 30
const FEWEST_ROUNDS = 3

/**
 * What one real worker costs that hears again what an instance of a cluster heard: alone, so that nothing of a simulation is in it, and without a connection or a
 * backend.
 */
export async function replay(role: 'leader' | 'follower', options: ReplayOptions): Promise<InstanceCost> {
  const samples: number[] = []
  // The first finds code that is not compiled yet, and does not count.
  await using first = new ReplayedInstance(role, options)
  await first.play()
  let total = 0
  while (samples.length < FEWEST_ROUNDS || (total < SHORTEST_CPU_SECONDS && samples.length < MOST_ROUNDS)) {
    await using instance = new ReplayedInstance(role, options)
    const cpuSeconds = await instance.play()
    samples.push(cpuSeconds / options.windowSeconds)
    total += cpuSeconds
  }
  return { cpuSeconds: median(samples) }
}

class ReplayedInstance implements AsyncDisposable {
  readonly #role: 'leader' | 'follower'
  readonly #options: ReplayOptions
  readonly #clock = new ManualClock()
  readonly #handlers = new Map<string, TransportHandler>()
  readonly #worker: CoordinatedWorker

  constructor(role: 'leader' | 'follower', options: ReplayOptions) {
    this.#role = role
    this.#options = options
    const { traffic, subscriptions } = options
    const instanceId = traffic[role]
    const sharedState = new SharedLeaderState()
    const claims = new SharedClaims()
    const ownership = new InMemoryOwnership(instanceId, { claims })
    const elector = new InMemoryLeaderElector(instanceId, { sharedState, logger: silentLogger })
    if (role === 'follower') void new InMemoryLeaderElector(traffic.leader, { sharedState, logger: silentLogger }).tryAcquire()
    for (const [target, { subscriptions: names }] of traffic.assignments) {
      if (target !== instanceId) void new InMemoryOwnership(target, { claims }).claim(names as readonly string[])
    }
    this.#worker = new CoordinatedWorker({
      ...{ instanceId, subscriptions, elector, ownership, clock: this.#clock, logger: silentLogger, transport: this.#transport() },
      run: (_subscription, { signal }) => new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true })),
    })
  }

  /** Returns the seconds of processor time that the window took. */
  async play(): Promise<number> {
    const { traffic, warmUpSeconds, windowSeconds } = this.#options
    const clock = this.#clock
    const started = this.#worker.start()
    await clock.advance(0)
    await started
    for (const { at, topic, message } of traffic.heard) clock.setTimer(at - traffic.from, () => this.#hear(topic, message))
    for (const message of this.#role === 'follower' ? traffic.assignments.values() : []) this.#hear(WORK_ASSIGNMENT_TOPIC, message)
    await clock.advance(warmUpSeconds)
    const before = process.cpuUsage()
    await clock.advance(windowSeconds)
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1e6
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const stopped = this.#worker.stop()
    await this.#clock.advance(1)
    await stopped
  }

  #hear(topic: string, message: Readonly<Record<string, unknown>>): void {
    // A leader is told by its own plans, and those of the recorded one are of another term.
    if (this.#role === 'leader' && topic === WORK_ASSIGNMENT_TOPIC) return
    this.#handlers.get(topic)?.(message)
  }

  #transport(): Transport {
    return {
      publish: async (_topic, message) => void JSON.stringify(message),
      subscribe: async (topic, handler) => {
        this.#handlers.set(topic, handler)
        return () => void this.#handlers.delete(topic)
      },
      onResync: () => () => {},
    }
  }
}
