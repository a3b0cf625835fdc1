import type { TryAcquireOptions } from '@es/coordination-core'
import type { FakeBackend } from './fake-backend.fixture.js'
import { HonestElector, type LeadershipLike } from './honest-elector.fixture.js'
import type { Lie } from './lie.fixture.js'

export const identityLies: readonly Lie[] = [
  {
    lie: 'lacks a member',
    fails: [
      'has every member of the contract',
      'does not call a callback that was removed, and says whether there was one',
      'calls a callback once for each registration, and removes one at a time',
      'skips nobody when a callback removes itself',
      'does not call a callback that an earlier one removed in the same change',
    ],
    elector: class extends HonestElector {
      constructor(identity: string, backend: FakeBackend, leadership: LeadershipLike) {
        super(identity, backend, leadership)
        Object.assign(this, { removeLeaderChangeCallback: undefined })
      }
    },
  },
  {
    lie: 'has the identity of its rival',
    fails: [
      'has an identity that never changes and that its rival does not have',
      'names the leader to a rival that asks',
      'names the new leader to the one that led before, once it asks',
      'sees a rival lead and stop leading without asking',
      'logs a failing callback with the identity and the error',
    ],
    elector: class extends HonestElector {
      constructor(_identity: string, backend: FakeBackend, leadership: LeadershipLike) {
        super('worker', backend, leadership)
      }
    },
  },
  {
    lie: 'changes its identity when it leads',
    fails: [
      'has an identity that never changes and that its rival does not have',
      'names the leader to a rival that asks',
      'names the new leader to the one that led before, once it asks',
      'sees a rival lead and stop leading without asking',
      'logs a failing callback with the identity and the error',
    ],
    elector: class extends HonestElector {
      readonly #given: string
      constructor(identity: string, backend: FakeBackend, leadership: LeadershipLike) {
        super(identity, backend, leadership)
        this.#given = identity
        Object.defineProperty(this, 'identity', { get: () => (this.isLeader ? `${this.#given} (leader)` : this.#given) })
      }
    },
  },
  {
    lie: 'names itself as the leader before anybody leads',
    fails: ['does not lead before it is asked to', 'sees a rival lead and stop leading without asking'],
    elector: class extends HonestElector {
      #asked = false
      override get currentLeader(): string | null {
        return this.#asked ? super.currentLeader : this.identity
      }
      override async tryAcquire(options?: TryAcquireOptions): Promise<boolean> {
        this.#asked = true
        return await super.tryAcquire(options)
      }
    },
  },
]
