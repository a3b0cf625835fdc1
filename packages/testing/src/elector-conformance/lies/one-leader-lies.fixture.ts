import type { TryAcquireOptions } from '@es/coordination-core'
import { FakeBackend } from './fake-backend.fixture.js'
import { HonestElector, type LeadershipLike } from './honest-elector.fixture.js'
import type { Lie } from './lie.fixture.js'
import { TellingLeadership } from './lying-leaderships.fixture.js'

export const oneLeaderLies: readonly Lie[] = [
  {
    lie: 'takes the leadership of another one for its own until it asks',
    fails: [
      'makes the first that asks the leader',
      'answers false to a renewal before it leads, and does not lead by it',
      'sees a rival lead and stop leading without asking',
      'waits while a rival leads, and wins soon after its release without an instant of two leaders',
      'wins again and again after losing, so that there is always a next leader',
    ],
    elector: class extends HonestElector {
      #hasAsked = false
      override get isLeader(): boolean {
        return super.isLeader || (!this.#hasAsked && this.backend.currentLeader !== null)
      }
      override async tryAcquire(options?: TryAcquireOptions): Promise<boolean> {
        this.#hasAsked = true
        return await super.tryAcquire(options)
      }
    },
  },
  {
    lie: 'leads whenever it asks, whoever else leads',
    fails: [
      'refuses a rival at once while another one leads',
      'lets the rival lead after a release',
      'does nothing when one that does not lead releases',
      'names the leader to a rival that asks',
      'names the new leader to the one that led before, once it asks',
      'sees a rival lead and stop leading without asking',
      'tells a gain and a loss once each, in that order, and the rival nothing',
      'lets a callback ask for leadership that was just lost',
      'never has two leaders, nor none, when both ask at once over and over',
      'keeps leadership when the signal of a finished attempt aborts',
      'has no token while it does not lead',
      'has a larger token in every later term, whoever leads',
      'has a larger token after the backend took leadership away',
      'waits while a rival leads, and wins soon after its release without an instant of two leaders',
    ],
    elector: class extends HonestElector {
      constructor(identity: string, _backend: FakeBackend, leadership: LeadershipLike) {
        super(identity, new FakeBackend(), leadership)
      }
    },
  },
  {
    lie: 'waits in tryAcquire() until leadership is free',
    fails: [
      'refuses a rival at once while another one leads',
      'lets the rival lead after a release',
      'does nothing when one that does not lead releases',
      'names the leader to a rival that asks',
      'names the new leader to the one that led before, once it asks',
      'tells a gain and a loss once each, in that order, and the rival nothing',
      'lets a callback ask for leadership that was just lost',
      'never has two leaders, nor none, when both ask at once over and over',
      'tells gains and losses in turn, whatever is called at once',
      'keeps leadership when the signal of a finished attempt aborts',
      'leaves no listener on the signal of an attempt',
      'has no token while it does not lead',
      'keeps one token for the whole term',
    ],
    elector: class extends HonestElector {
      override async tryAcquire(options: TryAcquireOptions = {}): Promise<boolean> {
        for (;;) {
          const seen = this.backend.changes
          if (await super.tryAcquire(options)) return true
          if (this.backend.currentLeader === null) return false
          await this.backend.changeAfter(seen, options.signal)
        }
      }
    },
  },
  {
    lie: 'answers false when it leads already',
    fails: [
      'answers true to the leader that asks again',
      'lets a callback of the leader ask again and renew',
      'resolves at once for one that leads already, and tells nothing',
    ],
    elector: class extends HonestElector {
      override async tryAcquire(options: TryAcquireOptions = {}): Promise<boolean> {
        options.signal?.throwIfAborted()
        return this.isLeader ? false : await super.tryAcquire(options)
      }
    },
  },
  {
    lie: 'takes the lock again with each renewal, and needs as many releases',
    fails: [
      'gives up with one release, however often it asked and renewed',
      'waits while a rival leads, and wins soon after its release without an instant of two leaders',
      'tells one gain for several campaigns at once, and ends them all',
      'wins again and again after losing, so that there is always a next leader',
    ],
    elector: class extends HonestElector {
      #taken = 0
      override async renew(): Promise<boolean> {
        const isLeader = await super.renew()
        if (isLeader) this.#taken++
        return isLeader
      }
      override async release(): Promise<void> {
        if (this.#taken-- > 0) await this.lose()
        else await super.release()
      }
    },
  },
  {
    lie: 'frees the lock of the leader when it releases without leading',
    fails: ['does nothing when one that does not lead releases'],
    elector: class extends HonestElector {
      override async release(): Promise<void> {
        if (!this.isLeader) this.backend.takeAway()
        await super.release()
      }
    },
  },
  {
    lie: 'tells a loss when it releases without leading',
    fails: [
      'does nothing when one that does not lead releases',
      'tells one loss when it is released five times at once',
      'tells gains and losses in turn, whatever is called at once',
      'tells the loss once, and the rival can lead',
    ],
    elector: class extends HonestElector {
      override async release(): Promise<void> {
        if (!this.isLeader) await (this.leadership as TellingLeadership).tellAnyway(false)
        await super.release()
      }
    },
    leadership: TellingLeadership,
  },
  {
    lie: 'leads only once in its life',
    fails: [
      'lets both lead in turn, as often as they ask',
      'lets a callback ask for leadership that was just lost',
      'tells one loss when it is released five times at once',
      'never has two leaders, nor none, when both ask at once over and over',
      'has a larger token in every later term, whoever leads',
      'has a larger token after the backend took leadership away',
      'rejects with the reason as soon as its signal aborts, and holds nothing',
      'leaves no listener on its signal, aborted or won',
      'wins again and again after losing, so that there is always a next leader',
      'wins when the backend takes leadership away from the rival, and so does the rival after that',
      'tells the loss once, and the rival can lead',
      'tells one loss when leadership is lost and released at once',
    ],
    elector: class extends HonestElector {
      #hasLed = false
      override async tryAcquire(options: TryAcquireOptions = {}): Promise<boolean> {
        options.signal?.throwIfAborted()
        if (this.#hasLed && !this.isLeader) return false
        const answer = await super.tryAcquire(options)
        this.#hasLed ||= answer
        return answer
      }
    },
  },
  {
    lie: 'keeps isLeader true until the backend confirms the release',
    fails: [
      'never has two leaders, nor none, when both ask at once over and over',
      'waits while a rival leads, and wins soon after its release without an instant of two leaders',
      'wins again and again after losing, so that there is always a next leader',
    ],
    elector: class extends HonestElector {
      override async release(): Promise<void> {
        if (!this.leadership.isLeader) return
        await this.ask(() => this.backend.free(this), 0.3)
        for (let turns = 0; turns < 3; turns++) await this.ask(() => {}, 0.3)
        await this.lose()
      }
    },
  },
]
