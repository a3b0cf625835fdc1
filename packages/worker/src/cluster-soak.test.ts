import { describe, expect, it } from 'vitest'
import { BUS_SECONDS, Cluster, seededRandom, slowToStop, untilTold } from './cluster.test.harness.js'

const TIMINGS = {
  ...{ heartbeatIntervalSeconds: 1, heartbeatTimeoutSeconds: 3, electionIntervalSeconds: 1, observeIntervalSeconds: 0.5, settleSeconds: 1 },
  ...{ drainTimeoutSeconds: 3, noLeaderWarningSeconds: 6, longestRunPauseSeconds: 2, declineSeconds: 2, massLossHoldSeconds: 4 },
}
const IDS = ['a', 'b', 'c', 'd', 'e']

const COMINGS_AND_GOINGS = ['start', 'start', 'start', 'stop', 'crash', 'lose leadership']
const ACTIONS = {
  claims: [
    ...COMINGS_AND_GOINGS,
    ...['pause', 'resume', 'lose claims', 'cut claims', 'mend claims', 'slow claims', 'bad bus', 'good bus', 'cut bus', 'mend bus'],
  ],
  // Without claims nothing tells a silent owner from a dead one: lost messages and pauses break the promise, as documented.
  'a bus that repeats and reorders': [...COMINGS_AND_GOINGS, 'bad bus', 'good bus'],
  'a bus that cuts instances off': [...COMINGS_AND_GOINGS, 'cut bus', 'mend bus'],
} as const

/** One random life of a cluster: what happens, and when, follows from the seed alone. */
class Soak {
  readonly cluster: Cluster
  readonly random: () => number
  readonly story: string[] = []
  readonly actions: readonly string[]
  readonly hasOwnership: boolean

  constructor(seed: number, kind: keyof typeof ACTIONS) {
    this.random = seededRandom(seed)
    this.actions = ACTIONS[kind]
    this.hasOwnership = kind === 'claims'
    const { hasOwnership } = this
    const run = this.random() < 0.5 ? untilTold : slowToStop(this.random() * 1.5)
    this.cluster = new Cluster({
      subscriptions: 1 + Math.floor(this.random() * 9),
      hasOwnership,
      seed,
      run,
      defaults: TIMINGS,
      leaseSeconds: 1,
    })
  }

  async play(): Promise<void> {
    const { cluster } = this
    await this.do('start', 'a')
    await this.do('start', 'b')
    for (let step = 0; step < 14; step++) {
      await cluster.pass(this.random() < 0.3 ? 0 : this.random() * 2.5)
      await this.#act()
    }
    await this.#heal()
    // Longest of: a drain that goes on, a silence to be noticed, work held back, a pause to listen; then the settle window.
    await cluster.until(() => cluster.isBalanced, { withinSeconds: 40, stepSeconds: 0.25 })
    await cluster.pass(8)
    expect(cluster.isBalanced).toBe(true)
    for (const { worker, id } of cluster.members.values()) {
      expect(worker.health(), id).toMatchObject({ status: 'ok', isReady: true })
      if ([...cluster.owners.values()].includes(id)) expect(worker.status().whyIdle).toBe(null)
    }
    await cluster.verify()
  }

  async do(action: string, id: string): Promise<void> {
    const { cluster } = this
    this.story.push(`${cluster.clock.monotonicSeconds().toFixed(3)} ${action} ${id}`)
    const member = cluster.members.get(id)
    switch (action) {
      case 'start':
        // An id must be unique among those alive; the claims see to it where there are any.
        if (member === undefined && (this.hasOwnership || !this.#isLeaving(id))) await cluster.start(id)
        break
      case 'crash':
        if (member !== undefined) cluster.crash(id)
        break
      case 'stop':
        if (member !== undefined && !member.gate.isPaused) {
          void member.worker.stop({ drainTimeoutSeconds: this.random() < 0.3 ? 0 : 3 })
          cluster.members.delete(id)
        }
        break
      case 'pause':
        if (member !== undefined) cluster.pause(id)
        break
      case 'resume':
        if (member?.gate.isPaused) cluster.resume(id)
        break
      case 'lose leadership':
        void member?.elector.inner.forceLoseLeadership()
        break
      case 'lose claims':
        member?.ownership?.inner.forceLose()
        break
      case 'cut claims':
        member?.ownership?.inner.disconnect()
        break
      case 'mend claims':
        member?.ownership?.inner.reconnect()
        break
      case 'slow claims':
        if (member?.ownership) {
          member.ownership.fault.after = () =>
            new Promise((resolve) => void cluster.clock.setTimer(this.random() < 0.1 ? 12 : this.random(), resolve))
        }
        break
      case 'cut bus':
        member?.transport.inner.disconnect()
        break
      case 'mend bus':
        member?.transport.inner.reconnect()
        break
      case 'bad bus':
        cluster.bus.faults = {
          drop: () => this.hasOwnership && this.random() < 0.2,
          copies: () => (this.random() < 0.2 ? 2 : 1),
          delaySeconds: () => (this.random() < 0.3 ? this.random() * 0.4 : BUS_SECONDS),
        }
        break
      case 'good bus':
        cluster.bus.faults = { delaySeconds: () => BUS_SECONDS }
        break
    }
    await cluster.pass(0)
  }

  async #act(): Promise<void> {
    await this.do(this.#pick(this.actions), this.#pick(IDS))
  }

  async #heal(): Promise<void> {
    const { cluster } = this
    await this.do('good bus', '')
    for (const [id, { ownership }] of [...cluster.members]) {
      if (ownership) delete ownership.fault.after
      await this.do('mend claims', id)
      await this.do('mend bus', id)
      await this.do('resume', id)
    }
    if (cluster.members.size === 0) await this.do('start', 'z')
  }

  #isLeaving(id: string): boolean {
    return this.cluster.lives.some((life) => life.id === id && life.worker.status().phase === 'stopping' && !life.gate.death.signal.aborted)
  }

  #pick<T>(values: readonly T[]): T {
    return values[Math.floor(this.random() * values.length)] as T
  }
}

async function soak(seed: number, kind: keyof typeof ACTIONS): Promise<void> {
  const life = new Soak(seed, kind)
  try {
    await life.play()
  } catch (error) {
    throw new Error(`${kind}, seed ${seed}: ${String(error)}\n${life.story.join('\n')}\n${life.cluster.describe()}`, { cause: error })
  }
}

describe('whatever happens to a cluster, no subscription ever runs twice, and afterwards everything runs, balanced, and stops without a trace', () => {
  const SCENARIOS = { claims: 160, 'a bus that repeats and reorders': 40, 'a bus that cuts instances off': 40 }
  for (const kind of Object.keys(ACTIONS) as (keyof typeof ACTIONS)[]) {
    for (let first = 1; first <= SCENARIOS[kind]; first += 20) {
      it(`with ${kind}, seeds ${first} to ${first + 19}`, { timeout: 60_000 }, async () => {
        for (let seed = first; seed < first + 20; seed++) await soak(seed, kind)
      })
    }
  }
})
