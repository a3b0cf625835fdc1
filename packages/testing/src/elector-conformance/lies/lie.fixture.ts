import type { Logger } from '@es/coordination-core'
import type { FakeBackend } from './fake-backend.fixture.js'
import type { HonestElector, LeadershipLike } from './honest-elector.fixture.js'
import type { OpenLeadership } from './open-leadership.fixture.js'

/** An elector that breaks the contract in one way, and the cases that must notice. */
export interface Lie {
  readonly lie: string
  /** Names of all the cases that fail, and no other, in the order of the suite. */
  readonly fails: readonly string[]
  /** @default HonestElector */
  readonly elector?: new (
    identity: string,
    backend: FakeBackend,
    leadership: LeadershipLike,
  ) => HonestElector
  /** @default OpenLeadership */
  readonly leadership?: new (
    identity: string,
    logger: Logger,
  ) => OpenLeadership
  /** A power that the world has beyond those that cost no time. */
  readonly slowPower?: 'hang' | 'leaseExpiry'
}
