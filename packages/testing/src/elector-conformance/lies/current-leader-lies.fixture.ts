import type { TryAcquireOptions } from '@es/coordination-core'
import { HonestElector } from './honest-elector.fixture.js'
import type { Lie } from './lie.fixture.js'

export const currentLeaderLies: readonly Lie[] = [
  {
    lie: 'names only others',
    fails: ['names itself while it leads'],
    elector: class extends HonestElector {
      override get currentLeader(): string | null {
        return this.isLeader ? null : super.currentLeader
      }
    },
  },
  {
    lie: 'always names itself as the leader',
    fails: [
      'does not lead before it is asked to',
      'names nobody after it released',
      'names the leader to a rival that asks',
      'names the new leader to the one that led before, once it asks',
      'sees a rival lead and stop leading without asking',
    ],
    elector: class extends HonestElector {
      override get currentLeader(): string {
        return this.identity
      }
    },
  },
  {
    lie: 'knows no leader but itself',
    fails: [
      'names the leader to a rival that asks',
      'names the new leader to the one that led before, once it asks',
      'sees a rival lead and stop leading without asking',
    ],
    elector: class extends HonestElector {
      override get currentLeader(): string | null {
        return this.isLeader ? this.identity : null
      }
    },
  },
  {
    lie: 'names whoever led last',
    fails: ['names nobody after it released', 'sees a rival lead and stop leading without asking'],
    elector: class extends HonestElector {
      #last: string | null = null
      override get currentLeader(): string | null {
        this.#last = super.currentLeader ?? this.#last
        return this.#last
      }
      protected override async lead(term: bigint, askedAt: number): Promise<void> {
        this.#last = this.identity
        await super.lead(term, askedAt)
      }
    },
  },
  {
    lie: 'looks at the backend only when it asks for leadership',
    fails: ['sees a rival lead and stop leading without asking'],
    elector: class extends HonestElector {
      #seen: string | null = null
      override get currentLeader(): string | null {
        return this.isLeader ? this.identity : this.#seen
      }
      override async tryAcquire(options?: TryAcquireOptions): Promise<boolean> {
        const answer = await super.tryAcquire(options)
        this.#seen = answer ? null : this.backend.currentLeader
        return answer
      }
    },
  },
]
