import type { TryAcquireOptions } from '@es/coordination-core'
import { HonestElector } from './honest-elector.fixture.js'
import type { Lie } from './lie.fixture.js'
import { TellingLeadership } from './lying-leaderships.fixture.js'

export const concurrencyLies: readonly Lie[] = [
  {
    lie: 'tells a loss for each of several releases at once',
    fails: [
      'tells one loss when it is released five times at once',
      'tells gains and losses in turn, whatever is called at once',
      'tells one loss when leadership is lost and released at once',
    ],
    elector: class extends HonestElector {
      override async release(): Promise<void> {
        const wasLeader = this.isLeader
        await this.ask(() => {}, 0.3)
        if (wasLeader && !this.isLeader) await (this.leadership as TellingLeadership).tellAnyway(false)
        await super.release()
      }
    },
    leadership: TellingLeadership,
  },
  {
    lie: 'tells a gain for each of several attempts at once',
    fails: [
      'tells one gain when it is asked ten times at once',
      'tells gains and losses in turn, whatever is called at once',
      'tells one gain for several campaigns at once, and ends them all',
    ],
    elector: class extends HonestElector {
      protected override async lead(term: bigint, askedAt: number): Promise<void> {
        if (this.isLeader) await (this.leadership as TellingLeadership).tellAnyway(true)
        await super.lead(term, askedAt)
      }
    },
    leadership: TellingLeadership,
  },
  {
    lie: 'takes what looked free a moment ago',
    fails: ['never has two leaders, nor none, when both ask at once over and over'],
    elector: class extends HonestElector {
      override async tryAcquire(options: TryAcquireOptions = {}): Promise<boolean> {
        if (this.isLeader || this.backend.currentLeader !== null) return await super.tryAcquire(options)
        const askedAt = performance.now()
        const takeWithoutLooking = (): bigint | null => {
          if (this.backend.currentLeader !== this.identity) this.backend.takeAway()
          return this.backend.take(this)
        }
        const term = await this.ask(takeWithoutLooking, options.timeoutSeconds ?? 10, options.signal)
        if (term !== null) await this.lead(term, askedAt)
        return this.isLeader
      }
    },
  },
]
