import type { Claim } from '@es/coordination-core'
import { describe, expect, it } from 'vitest'
import { lockServerBackend } from './lock-server-backend.js'
import type { Scenario } from './scenario.js'
import { formatSimulation, simulate } from './simulate.js'
import type { CreateInstance, SimulatedInstance, Surroundings } from './surroundings.js'

/** The simplest instance that can be whole alone: leads if it can, and whoever leads runs everything. */
class Soloist implements SimulatedInstance {
  readonly #surroundings: Surroundings
  readonly #ending = new AbortController()
  #work: Promise<unknown> = Promise.resolve()

  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings
  }

  async start(): Promise<void> {
    const { elector, ownership, subscriptions, clock, run } = this.#surroundings
    this.#work = (async () => {
      while (!this.#ending.signal.aborted) {
        const isLeader = await elector.tryAcquire({ signal: this.#ending.signal }).catch(() => false)
        if (isLeader && ownership !== undefined) {
          const { claimed } = await ownership.claim(subscriptions).catch(() => ({ claimed: [] as readonly Claim[] }))
          const started = claimed.map(({ subscription, fencingToken, signal }) =>
            run(subscription, { fencingToken, lost: signal, signal: AbortSignal.any([signal, this.#ending.signal]) }).catch(() => {}),
          )
          await Promise.all(started)
        }
        await new Promise<void>((resolve) => clock.setTimer(0.2, resolve))
      }
    })()
  }

  async stop(): Promise<void> {
    const { elector, ownership, subscriptions } = this.#surroundings
    this.#ending.abort({ code: 'run_stopping' })
    await this.#work
    await ownership?.release(subscriptions).catch(() => {})
    await elector.release().catch(() => {})
  }
}

const soloist: CreateInstance = (surroundings) => new Soloist(surroundings)

const ALONE: Scenario = {
  seed: 1,
  subscriptions: ['orders', 'invoices'],
  steps: [
    { do: 'start', who: 'a' },
    { do: 'crash', who: 'the leader', afterSeconds: 4, downSeconds: 1 },
    { do: 'pause', who: 'a', afterSeconds: 4, forSeconds: 4 },
    { do: 'bad_backend', afterSeconds: 8, isCut: true, forSeconds: 4 },
    { do: 'wait', afterSeconds: 6 },
  ],
}

/** A soloist, but for this. */
function soloistBut(change: (instance: Soloist, surroundings: Surroundings) => Partial<SimulatedInstance>): CreateInstance {
  return (surroundings) => {
    const instance = new Soloist(surroundings)
    const parts: SimulatedInstance = { start: () => instance.start(), stop: () => instance.stop() }
    return Object.assign(parts, change(instance, surroundings))
  }
}

async function faultsOf(createInstance: CreateInstance, scenario: Scenario = ALONE): Promise<string> {
  return (await simulate(scenario, { createInstance })).faults.join('\n')
}

describe('a simulation', () => {
  it('finds nothing wrong with an instance that does its work, through crash, pause and outage', async () => {
    const result = await simulate(ALONE, { createInstance: soloist })
    expect(formatSimulation(result)).toContain('a  is elected, term')
    expect(result.faults).toEqual([])
    expect(result.holds).toBe(true)
    expect(result.history.filter(({ type }) => type === 'elected').length).toBeGreaterThanOrEqual(3)
    expect(result.figures.steps.get('crash')).toEqual({ done: 1, skipped: 0, onLeader: 1, onOwner: 1 })
  })

  it('skips a step that cannot be done, and says so', async () => {
    const steps = [{ do: 'start', who: 'a' } as const, { do: 'crash', who: 'b' } as const, { do: 'start', who: 'a' } as const]
    const result = await simulate({ ...ALONE, steps }, { createInstance: soloist })
    expect(result.holds).toBe(true)
    expect(formatSimulation(result)).toContain('>> b  (skipped) is killed')
    expect(result.figures.steps.get('start')).toMatchObject({ done: 1, skipped: 1 })
  })

  it('lets a fault last until its own end, whatever others of its kind do', async () => {
    const steps: Scenario['steps'] = [
      { do: 'start', who: 'a' },
      { do: 'pause', who: 'a', afterSeconds: 3, forSeconds: 6 },
      { do: 'resume', who: 'a', afterSeconds: 1 },
      { do: 'pause', who: 'a', afterSeconds: 1, forSeconds: 20 },
      { do: 'restart_backend', afterSeconds: 30, forSeconds: 2 },
      { do: 'restart_backend', afterSeconds: 1, forSeconds: 6 },
      { do: 'wait', afterSeconds: 20 },
    ]
    const result = await simulate({ ...ALONE, steps }, { createInstance: soloist })
    expect(result.faults).toEqual([])
    const times = (type: string): readonly number[] => result.history.filter((event) => event.type === type).map(({ at }) => at)
    expect([times('paused'), times('resumed')]).toEqual([
      [3, 5],
      [4, 25],
    ])
    expect(formatSimulation(result)).toContain('  25.000 >> a  goes on')
    // Down from 35 to 37 and from 36 to 42: nobody leads before the backend has been up for a lease.
    expect(times('elected').find((at) => at > 35)).toBeGreaterThan(42)
  })

  it('leaves no listener behind when the backend cannot be made', async () => {
    const before = process.listenerCount('unhandledRejection')
    const createBackend = (): never => {
      throw new Error('no backend')
    }
    await expect(simulate(ALONE, { createInstance: soloist, createBackend })).rejects.toThrow('no backend')
    expect(process.listenerCount('unhandledRejection')).toBe(before)
  })

  it('starts somebody when nobody is left', async () => {
    const result = await simulate({ ...ALONE, steps: [] }, { createInstance: soloist })
    expect(result.holds).toBe(true)
    expect(formatSimulation(result)).toContain('z  is elected')
  })

  it('starts an instance again that could not start', async () => {
    let tries = 0
    const shy = soloistBut((instance) => ({
      start: () => (++tries < 3 ? Promise.reject(new Error('not yet')) : instance.start()),
    }))
    const result = await simulate({ ...ALONE, steps: [{ do: 'start', who: 'a' }] }, { createInstance: shy })
    expect(result.faults).toEqual([])
    expect(formatSimulation(result)).toContain('cannot start: not yet')
  })
})

describe('a simulation finds', () => {
  it('work that is not done', async () => {
    const lazy = soloistBut(() => ({ start: async () => {} }))
    expect(await faultsOf(lazy)).toContain('the cluster is not whole: nobody leads')
  })

  it('a problem that an instance has', async () => {
    expect(await faultsOf(soloistBut(() => ({ problems: () => ['it is tired'] })))).toContain('a says: it is tired')
  })

  it('an instance that does not leave', async () => {
    expect(await faultsOf(soloistBut(() => ({ stop: () => new Promise(() => {}) })))).toContain('has not left when it was asked to')
  })

  it('an instance that fails to leave', async () => {
    expect(await faultsOf(soloistBut(() => ({ stop: () => Promise.reject(new Error('stuck')) })))).toContain('a failed to leave: stuck')
  })

  it('a timer that stays behind', async () => {
    const forgetful = soloistBut((instance, { clock }) => ({
      async stop() {
        clock.setTimer(1000, () => {})
        await instance.stop()
      },
    }))
    expect(await faultsOf(forgetful)).toContain('has left, and 1 of its timers are still set')
  })

  it('a lock that stays behind', async () => {
    const hoarder = soloistBut((instance, { ownership }) => ({
      async stop() {
        await instance.stop()
        await ownership?.claim(['orders'])
      },
    }))
    const { faults } = await simulate(ALONE, { createInstance: hoarder, createBackend: lockServerThatIsNotLeft() })
    expect(faults.join('\n')).toContain('Still held when all have left: claim/orders')
  })

  it('a rejection that nobody handles', async () => {
    const careless = soloistBut((instance) => ({
      async start() {
        void Promise.reject(new Error('nobody looks'))
        await instance.start()
      },
    }))
    expect(await faultsOf(careless)).toContain('A promise rejection was not handled: nobody looks')
  })

  it('a timer that throws', async () => {
    const broken = soloistBut((instance, { clock }) => ({
      async start() {
        clock.setTimer(1, () => {
          throw new Error('broken timer')
        })
        await instance.start()
      },
    }))
    expect(await faultsOf(broken)).toContain('The simulation broke off: broken timer')
  })

  it('what is wrong in the history, and that a subscription runs twice in the end', async () => {
    const greedy = soloistBut((instance, { run, subscriptions }) => ({
      async start() {
        const signal = new AbortController().signal
        for (const name of subscriptions) void run(name, { signal, lost: signal, fencingToken: null }).catch(() => {})
        await instance.start()
      },
    }))
    const steps = ['a', 'b'].map((who) => ({ do: 'start', who, afterSeconds: 1 }) as const)
    const faults = await faultsOf(greedy, { ...ALONE, steps })
    expect(faults).toContain('orders runs in a and b')
    expect(faults).toContain('a starts to run orders, and holds no claim on it')
  })
})

/** The built-in backend, whose adapters nobody closes. */
function lockServerThatIsNotLeft() {
  const createBackend = lockServerBackend()
  return (options: Parameters<typeof createBackend>[0]) => {
    const backend = createBackend(options)
    return {
      connect(place: Parameters<typeof backend.connect>[0]) {
        const { close: _close, ...adapters } = backend.connect(place)
        return adapters
      },
      leftovers: () => backend.leftovers?.() ?? [],
    }
  }
}
