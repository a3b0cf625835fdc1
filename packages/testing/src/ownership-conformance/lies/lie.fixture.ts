import type { FakeClaims } from './fake-claims.fixture.js'
import type { HonestOwnership } from './honest-ownership.fixture.js'

/** An ownership that breaks the contract in one way, and the cases that must notice. */
export interface Lie {
  readonly lie: string
  /** Names of all the cases that fail, and no other, in the order of the suite. */
  readonly fails: readonly string[]
  readonly ownership: new (instanceId: string, backend: FakeClaims) => HonestOwnership
  /** A power that the world has beyond those that cost no time. */
  readonly slowPower?: 'hang' | 'leaseExpiry'
}
