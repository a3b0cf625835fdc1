import { InMemoryTransport } from '@es/coordination-memory'
import type { Cluster } from './cluster.test.harness.js'

const PREFIX = '__eventsource_coordination'

/** An instance of the reference library: it sends the guide's keys and nothing else, obeys assignments, and knows no claims. */
export class ReferencePeer {
  readonly id: string
  readonly running = new Set<string>()
  readonly #cluster: Cluster
  readonly #transport: InMemoryTransport
  #isAlive = true
  #obeys: boolean

  constructor(
    cluster: Cluster,
    id: string,
    { runs = [], obeys = true }: { readonly runs?: readonly string[]; readonly obeys?: boolean } = {},
  ) {
    this.id = id
    this.#cluster = cluster
    this.#obeys = obeys
    this.#transport = new InMemoryTransport({ bus: cluster.bus, name: id, logger: cluster.logger })
    for (const name of runs) this.running.add(name)
    void this.#transport.subscribe(`${PREFIX}.work_assignment`, (message) =>
      this.#assign(message as { target_instance_id: string; subscriptions: string[] }),
    )
    this.#beat()
  }

  die(): void {
    this.#isAlive = false
    this.running.clear()
  }

  leave(): void {
    const now = this.#cluster.clock.now()
    void this.#transport.publish(`${PREFIX}.shutdown`, {
      instance_id: this.id,
      intent: 'graceful',
      initiated_at: now.toISOString(),
      expected_completion_at: new Date(now.getTime() + 30_000).toISOString(),
      subscriptions: [...this.running],
      in_flight_count: 0,
    })
    this.die()
  }

  #beat(): void {
    if (!this.#isAlive) return
    void this.#transport.publish(`${PREFIX}.heartbeat`, {
      instance_id: this.id,
      timestamp: this.#cluster.clock.now().toISOString(),
      subscriptions: [...this.running],
      in_flight_count: 0,
      is_leader: false,
      load_factor: 0,
    })
    this.#cluster.clock.setTimer(5, () => this.#beat())
  }

  #assign({ target_instance_id, subscriptions }: { target_instance_id: string; subscriptions: string[] }): void {
    if (!this.#isAlive || !this.#obeys || target_instance_id !== this.id) return
    this.running.clear()
    for (const name of subscriptions) {
      const owner = this.#cluster.owners.get(name)
      if (owner !== undefined) this.#cluster.recorder.violations.push(`R1: ${name} started in ${this.id} while it ran in ${owner}`)
      this.running.add(name)
    }
  }
}
