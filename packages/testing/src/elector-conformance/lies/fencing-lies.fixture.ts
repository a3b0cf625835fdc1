import { HonestElector } from './honest-elector.fixture.js'
import type { Lie } from './lie.fixture.js'

export const fencingLies: readonly Lie[] = [
  {
    lie: 'keeps its token after it stopped leading',
    fails: [
      'has no token while it does not lead',
      'has the token of the term when the gain is told, and none when the loss is told',
      'has a larger token after the backend took leadership away',
    ],
    elector: class extends HonestElector {
      override get fencingToken(): bigint | null {
        return this.term
      }
    },
  },
  {
    lie: 'has the same token in every term',
    fails: ['has a larger token in every later term, whoever leads', 'has a larger token after the backend took leadership away'],
    elector: class extends HonestElector {
      override get fencingToken(): bigint | null {
        return this.isLeader ? 1n : null
      }
    },
  },
  {
    lie: 'counts its own terms alone',
    fails: ['has a larger token in every later term, whoever leads', 'has a larger token after the backend took leadership away'],
    elector: class extends HonestElector {
      #terms = 0n
      protected override async lead(_term: bigint, askedAt: number): Promise<void> {
        this.#terms += 1n
        await super.lead(this.#terms, askedAt)
      }
    },
  },
  {
    lie: 'takes a new token with every renewal',
    fails: ['keeps one token for the whole term'],
    elector: class extends HonestElector {
      override async renew(): Promise<boolean> {
        const answer = await super.renew()
        if (this.term !== null && answer) this.term += 1n
        return answer
      }
    },
  },
  {
    lie: 'learns its token after it told the gain',
    fails: ['has the token of the term when the gain is told, and none when the loss is told'],
    elector: class extends HonestElector {
      #known: bigint | null = null
      override get fencingToken(): bigint | null {
        return this.isLeader ? this.#known : null
      }
      protected override async lead(term: bigint, askedAt: number): Promise<void> {
        const told = super.lead(term, askedAt)
        this.#known = term
        await told
      }
      protected override async lose(): Promise<void> {
        this.#known = null
        await super.lose()
      }
    },
  },
]
