import type { LeaderChangeCallback, TryAcquireOptions } from '@es/coordination-core'
import type { FakeBackend } from './fake-backend.fixture.js'
import { HonestElector, type LeadershipLike } from './honest-elector.fixture.js'
import type { Lie } from './lie.fixture.js'
import { CountingLeadership, TellingLeadership } from './lying-leaderships.fixture.js'
import { OpenLeadership, type Registration } from './open-leadership.fixture.js'

const SHARED_LEADERSHIPS = new WeakMap<FakeBackend, readonly TellingLeadership[]>()

export const callbackLies: readonly Lie[] = [
  {
    lie: 'tells what it is at every call, changed or not',
    fails: [
      'tells nothing when the leader asks again',
      'tells a late callback the next change, not the present state',
      'tells gains and losses in turn, whatever is called at once',
      'resolves at once for one that leads already, and tells nothing',
    ],
    elector: class extends HonestElector {
      override async tryAcquire(options?: TryAcquireOptions): Promise<boolean> {
        const wasLeader = this.isLeader
        const answer = await super.tryAcquire(options)
        if (wasLeader && answer) await (this.leadership as TellingLeadership).tellAnyway(true)
        return answer
      }
    },
    leadership: TellingLeadership,
  },
  {
    lie: 'tells the callbacks of its rival too',
    fails: [
      'does nothing when one that does not lead releases',
      'answers false to a renewal before it leads, and does not lead by it',
      'tells a gain and a loss once each, in that order, and the rival nothing',
      'tells a late callback the next change, not the present state',
      'tells gains and losses in turn, whatever is called at once',
      'rejects with the reason of a signal that has been aborted, and holds nothing',
      'rejects with the reason as soon as its signal aborts, and holds nothing',
      'tells one gain for several campaigns at once, and ends them all',
      'tells the loss once, and the rival can lead',
    ],
    elector: class extends HonestElector {
      constructor(identity: string, backend: FakeBackend, leadership: LeadershipLike) {
        super(identity, backend, leadership)
        const all = SHARED_LEADERSHIPS.get(backend) ?? []
        SHARED_LEADERSHIPS.set(backend, [...all, leadership as TellingLeadership])
      }
      protected override async lead(term: bigint, askedAt: number): Promise<void> {
        for (const other of SHARED_LEADERSHIPS.get(this.backend) ?? []) {
          if (other !== this.leadership) await other.tellAnyway(false)
        }
        await super.lead(term, askedAt)
      }
    },
    leadership: TellingLeadership,
  },
  {
    lie: 'does not wait for its callbacks',
    fails: [
      'has told the callbacks when tryAcquire() and release() settle',
      'runs callbacks one at a time, in the order of registration',
      'lets a callback ask for leadership that was just lost',
      'lets a callback of the leader ask again and renew',
      'wins at once when nobody leads, and has told its callbacks',
    ],
    leadership: class extends OpenLeadership {
      protected override async tell(recipients: readonly Registration[], isLeader: boolean): Promise<void> {
        for (const registration of recipients) void this.call(registration, isLeader)
      }
    },
  },
  {
    lie: 'runs all callbacks at once',
    fails: ['runs callbacks one at a time, in the order of registration'],
    leadership: class extends OpenLeadership {
      protected override async tell(recipients: readonly Registration[], isLeader: boolean): Promise<void> {
        await Promise.all(recipients.map((registration) => this.call(registration, isLeader)))
      }
    },
  },
  {
    lie: 'runs callbacks in the reverse order',
    fails: [
      'runs callbacks one at a time, in the order of registration',
      'does not call a callback that an earlier one removed in the same change',
    ],
    leadership: class extends OpenLeadership {
      protected override async tell(recipients: readonly Registration[], isLeader: boolean): Promise<void> {
        await super.tell([...recipients].reverse(), isLeader)
      }
    },
  },
  {
    lie: 'tells before its state changes',
    fails: [
      'has changed its state before it tells',
      'lets a callback release what was just gained, and then answers false',
      'lets a callback ask for leadership that was just lost',
      'has the token of the term when the gain is told, and none when the loss is told',
    ],
    leadership: class extends OpenLeadership {
      override async change(isLeader: boolean): Promise<void> {
        if (isLeader === this.isLeader) return
        const told = this.enqueue(isLeader)
        this.isLeader = isLeader
        await told
      }
    },
  },
  {
    lie: 'stops at the first callback that fails',
    fails: ['goes on when a callback throws', 'goes on when a callback rejects'],
    leadership: class extends OpenLeadership {
      protected override async tell(recipients: readonly Registration[], isLeader: boolean): Promise<void> {
        try {
          for (const { callback, removed } of recipients) if (!removed) await callback(isLeader)
        } catch (error) {
          this.report(error)
        }
      }
    },
  },
  {
    lie: 'survives a callback that throws, but not one that rejects',
    fails: ['goes on when a callback rejects'],
    leadership: class extends OpenLeadership {
      protected override async tell(recipients: readonly Registration[], isLeader: boolean): Promise<void> {
        for (const { callback, removed } of recipients) {
          if (removed) continue
          const failed = await this.#callAndReport(callback, isLeader)
          if (failed) return
        }
      }
      /** Whether the callback rejected; that it threw does not count. */
      async #callAndReport(callback: LeaderChangeCallback, isLeader: boolean): Promise<boolean> {
        let running: Promise<void> | undefined
        try {
          running = callback(isLeader) ?? undefined
        } catch (error) {
          this.report(error)
        }
        try {
          await running
          return false
        } catch (error) {
          this.report(error)
          return true
        }
      }
    },
  },
  {
    lie: 'gives up leadership when a callback fails',
    fails: ['goes on when a callback throws', 'goes on when a callback rejects', 'logs a failing callback with the identity and the error'],
    elector: class extends HonestElector {
      override async tryAcquire(options?: TryAcquireOptions): Promise<boolean> {
        const answer = await super.tryAcquire(options)
        if (!(this.leadership as CountingLeadership).failures) return answer
        await this.release()
        return false
      }
    },
    leadership: CountingLeadership,
  },
  {
    lie: 'keeps the failure of a callback to itself',
    fails: ['logs a failing callback with the identity and the error'],
    leadership: class extends OpenLeadership {
      protected override report(): void {}
    },
  },
  {
    lie: 'still calls a callback that was removed',
    fails: [
      'does not call a callback that was removed, and says whether there was one',
      'calls a callback once for each registration, and removes one at a time',
      'skips nobody when a callback removes itself',
      'does not call a callback that an earlier one removed in the same change',
    ],
    leadership: class extends OpenLeadership {
      readonly #all: Registration[] = []
      override onLeaderChange(callback: LeaderChangeCallback): void {
        super.onLeaderChange(callback)
        this.#all.push({ callback, removed: false })
      }
      protected override async tell(_recipients: readonly Registration[], isLeader: boolean): Promise<void> {
        await super.tell([...this.#all], isLeader)
      }
    },
  },
  {
    lie: 'calls a callback that was removed while the change was being told',
    fails: ['does not call a callback that an earlier one removed in the same change'],
    leadership: class extends OpenLeadership {
      protected override async call(registration: Registration, isLeader: boolean): Promise<void> {
        await super.call({ ...registration, removed: false }, isLeader)
      }
    },
  },
  {
    lie: 'skips the next callback when one removes itself',
    fails: ['skips nobody when a callback removes itself'],
    leadership: class extends OpenLeadership {
      protected override async tell(_recipients: readonly Registration[], isLeader: boolean): Promise<void> {
        for (let index = 0; index < this.registrations.length; index++) {
          const registration = this.registrations[index]
          if (registration) await this.call(registration, isLeader)
        }
      }
    },
  },
  {
    lie: 'answers true to every removal',
    fails: ['does not call a callback that was removed, and says whether there was one'],
    leadership: class extends OpenLeadership {
      override removeLeaderChangeCallback(callback: LeaderChangeCallback): boolean {
        super.removeLeaderChangeCallback(callback)
        return true
      }
    },
  },
  {
    lie: 'registers a callback only once',
    fails: ['calls a callback once for each registration, and removes one at a time'],
    leadership: class extends OpenLeadership {
      override onLeaderChange(callback: LeaderChangeCallback): void {
        if (!this.registrations.some((registration) => registration.callback === callback)) super.onLeaderChange(callback)
      }
    },
  },
  {
    lie: 'replays the present state to a callback that comes late',
    fails: ['tells a late callback the next change, not the present state'],
    leadership: class extends OpenLeadership {
      override onLeaderChange(callback: LeaderChangeCallback): void {
        super.onLeaderChange(callback)
        if (this.isLeader) void callback(true)
      }
    },
  },
  {
    lie: 'runs callbacks under a lock that release() and tryAcquire() need',
    fails: [
      'lets a callback release what was just gained, and then answers false',
      'lets a callback ask for leadership that was just lost',
      'lets a callback of the leader ask again and renew',
    ],
    elector: class extends HonestElector {
      #lock: Promise<unknown> = Promise.resolve()
      override async tryAcquire(options?: TryAcquireOptions): Promise<boolean> {
        options?.signal?.throwIfAborted()
        return await this.#locked(() => super.tryAcquire(options))
      }
      override async release(): Promise<void> {
        await this.#locked(() => super.release())
      }
      #locked<T>(work: () => Promise<T>): Promise<T> {
        const result = this.#lock.then(work)
        this.#lock = result.catch(() => {})
        return result
      }
    },
  },
  {
    lie: 'answers true although a callback released what was gained',
    fails: ['lets a callback release what was just gained, and then answers false'],
    elector: class extends HonestElector {
      #term: bigint | null = null
      protected override async lead(term: bigint, askedAt: number): Promise<void> {
        this.#term = term
        await super.lead(term, askedAt)
      }
      override async tryAcquire(options?: TryAcquireOptions): Promise<boolean> {
        const before = this.#term
        const answer = await super.tryAcquire(options)
        return answer || before !== this.#term
      }
    },
  },
]
