import { HeartbeatMessage, ShutdownIntent, ShutdownNotification, WorkAssignment } from '@es/coordination-core'
import { InMemoryTransport } from '@es/coordination-memory'
import type { Cluster } from './cluster.test.harness.js'

const PREFIX = '__eventsource_coordination'

type HeartbeatProps = ConstructorParameters<typeof HeartbeatMessage>[0]
type ShutdownProps = ConstructorParameters<typeof ShutdownNotification>[0]
type AssignmentProps = ConstructorParameters<typeof WorkAssignment>[0]

/** Somebody who can write to the bus, and says whatever is told. Claims and leadership are out of its reach. */
export class Forger {
  readonly #cluster: Cluster
  readonly #transport: InMemoryTransport
  #beats = 0

  constructor(cluster: Cluster) {
    this.#cluster = cluster
    this.#transport = new InMemoryTransport({ bus: cluster.bus, name: 'forger', logger: cluster.logger })
  }

  heartbeat(props: Partial<HeartbeatProps> & Pick<HeartbeatProps, 'instanceId'>): void {
    this.send('heartbeat', { ...new HeartbeatMessage({ timestamp: this.#cluster.clock.now(), ...props }).toDict() })
  }

  goodbye(props: Partial<ShutdownProps> & Pick<ShutdownProps, 'instanceId'>): void {
    const initiatedAt = this.#cluster.clock.now()
    const drain = { intent: ShutdownIntent.Graceful, initiatedAt, expectedCompletionAt: new Date(initiatedAt.getTime() + 3_600_000) }
    this.send('shutdown', { ...new ShutdownNotification({ ...drain, ...props }).toDict() })
  }

  assign(props: Partial<AssignmentProps> & Pick<AssignmentProps, 'targetInstanceId' | 'subscriptions'>): void {
    const sent = { sourceInstanceId: this.#cluster.leader?.id ?? 'forger', assignedAt: this.#cluster.clock.now() }
    this.send('work_assignment', { ...new WorkAssignment({ ...sent, ...props }).toDict() })
  }

  /** One heartbeat of each of so many made-up instances, always the same ones. */
  ghosts(count: number, props: (id: string) => Partial<HeartbeatProps> = () => ({})): void {
    this.#beats++
    for (let index = 0; index < count; index++) {
      const instanceId = `ghost-${index}`
      this.heartbeat({ instanceId, incarnation: `life of ${instanceId}`, sequence: this.#beats, ...props(instanceId) })
    }
  }

  /** Anything at all. */
  send(kind: string, message: unknown): void {
    void this.#transport.publish(`${PREFIX}.${kind}`, message as Readonly<Record<string, unknown>>)
  }
}

/** How much of the work was owned on average while `seconds` passed, from 0 to 1; `act` is called every `everySeconds`. */
export async function ownedShare(cluster: Cluster, seconds: number, act: () => void = () => {}, everySeconds = 5): Promise<number> {
  const looks = seconds * 2
  let owned = 0
  for (let look = 0; look < looks; look++) {
    if ((look / 2) % everySeconds === 0) act()
    await cluster.pass(0.5)
    owned += cluster.subscriptions.filter((name) => cluster.members.has(cluster.owners.get(name) ?? '')).length
  }
  return owned / looks / cluster.subscriptions.length
}
