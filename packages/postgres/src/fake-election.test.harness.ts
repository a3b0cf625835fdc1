import type { Clock, LeaderChangeCallback } from '@es/coordination-core'
import { FakeLockServer } from './fake-lock-server.test.harness.js'
import { nameFakeServer } from './fake-pg-session.test.harness.js'
import { PostgresLeaderElector } from './postgres-leader-elector.js'
import type { PostgresLockSessionOptions } from './postgres-lock-session.js'
import { RecordingLogger } from './recording-logger.test.harness.js'

/** Electors of one election on one fake server; with the settings of fault E1: lease 15 s, renew deadline 10 s. */
export class FakeElection {
  readonly server: FakeLockServer
  readonly clock: Clock
  readonly logger = new RecordingLogger()
  readonly #name: string

  constructor(clock: Clock) {
    this.clock = clock
    this.server = new FakeLockServer(clock)
    this.#name = nameFakeServer(this.server)
  }

  join(
    identity: string,
    options: Partial<PostgresLockSessionOptions> & { random?: () => number; longestRetrySeconds?: number } = {},
    firstCallback?: (elector: PostgresLeaderElector) => LeaderChangeCallback,
  ): Contender {
    const elector = new PostgresLeaderElector({
      identity,
      election: 'orders',
      connection: this.#name,
      leaseSeconds: 15,
      renewDeadlineSeconds: 10,
      clock: this.clock,
      logger: this.logger,
      random: () => 0.5,
      ...options,
    })
    if (firstCallback) elector.onLeaderChange(firstCallback(elector))
    const contender = { elector, changes: [] as boolean[] }
    elector.onLeaderChange((isLeader) => void contender.changes.push(isLeader))
    return contender
  }
}

export interface Contender {
  readonly elector: PostgresLeaderElector
  /** What its leader-change callback was told. */
  readonly changes: boolean[]
}
