import { HonestElector } from './honest-elector.fixture.js'
import type { Lie } from './lie.fixture.js'
import { TellingLeadership } from './lying-leaderships.fixture.js'

export const campaignLies: readonly Lie[] = [
  {
    lie: 'does not hear the signal of a campaign',
    fails: ['rejects with the reason as soon as its signal aborts, and holds nothing', 'leaves no listener on its signal, aborted or won'],
    elector: class extends HonestElector {
      override async campaign({ signal }: { readonly signal?: AbortSignal } = {}): Promise<void> {
        signal?.throwIfAborted()
        await super.campaign()
      }
    },
  },
  {
    lie: 'starts a campaign whose signal was aborted before',
    fails: ['rejects with the reason of a signal that was aborted before'],
    elector: class extends HonestElector {
      override async campaign({ signal }: { readonly signal?: AbortSignal } = {}): Promise<void> {
        if (signal?.aborted) await this.tryAcquire()
        await super.campaign(signal ? { signal } : {})
      }
    },
  },
  {
    lie: 'rejects an aborted campaign with an error of its own',
    fails: [
      'rejects with the reason as soon as its signal aborts, and holds nothing',
      'rejects with the reason of a signal that was aborted before',
    ],
    elector: class extends HonestElector {
      override async campaign({ signal }: { readonly signal?: AbortSignal } = {}): Promise<void> {
        try {
          await super.campaign(signal ? { signal } : {})
        } catch {
          throw new Error('the campaign was aborted')
        }
      }
    },
  },
  {
    lie: 'goes on waiting behind the back of an aborted campaign',
    fails: ['rejects with the reason as soon as its signal aborts, and holds nothing', 'leaves no listener on its signal, aborted or won'],
    elector: class extends HonestElector {
      override async campaign({ signal }: { readonly signal?: AbortSignal } = {}): Promise<void> {
        signal?.throwIfAborted()
        const waiting = super.campaign()
        if (!signal) return await waiting
        await new Promise<void>((resolve, reject) => {
          const onAbort = (): void => reject(signal.reason)
          signal.addEventListener('abort', onAbort, { once: true })
          void waiting.then(() => {
            signal.removeEventListener('abort', onAbort)
            resolve()
          })
        })
      }
    },
  },
  {
    lie: 'leaves a listener on the signal of a campaign',
    fails: ['leaves no listener on its signal, aborted or won'],
    elector: class extends HonestElector {
      override async campaign({ signal }: { readonly signal?: AbortSignal } = {}): Promise<void> {
        signal?.addEventListener('abort', () => {})
        await super.campaign(signal ? { signal } : {})
      }
    },
  },
  {
    lie: 'never wakes from a campaign',
    fails: [
      'waits while a rival leads, and wins soon after its release without an instant of two leaders',
      'tells one gain for several campaigns at once, and ends them all',
      'wins again and again after losing, so that there is always a next leader',
      'wins when the backend takes leadership away from the rival, and so does the rival after that',
    ],
    elector: class extends HonestElector {
      override async campaign({ signal }: { readonly signal?: AbortSignal } = {}): Promise<void> {
        if (await this.tryAcquire(signal ? { signal } : {})) return
        await this.backend.changeAfter(this.backend.changes, signal)
        await new Promise(() => {})
      }
    },
  },
  {
    lie: 'ends a campaign without leadership when it is refused',
    fails: [
      'waits while a rival leads, and wins soon after its release without an instant of two leaders',
      'rejects with the reason as soon as its signal aborts, and holds nothing',
      'tells one gain for several campaigns at once, and ends them all',
    ],
    elector: class extends HonestElector {
      override async campaign({ signal }: { readonly signal?: AbortSignal } = {}): Promise<void> {
        await this.tryAcquire(signal ? { signal } : {})
      }
    },
  },
  {
    lie: 'ends a campaign before its callbacks were told',
    fails: ['wins at once when nobody leads, and has told its callbacks'],
    elector: class extends HonestElector {
      override async campaign({ signal }: { readonly signal?: AbortSignal } = {}): Promise<void> {
        const won = super.campaign(signal ? { signal } : {})
        won.catch(() => {})
        while (!this.isLeader && !signal?.aborted) await new Promise((resolve) => setImmediate(resolve))
        signal?.throwIfAborted()
      }
    },
  },
  {
    lie: 'tells a gain again when a campaign finds that it leads',
    fails: ['resolves at once for one that leads already, and tells nothing'],
    elector: class extends HonestElector {
      override async campaign({ signal }: { readonly signal?: AbortSignal } = {}): Promise<void> {
        const wasLeader = this.isLeader
        await super.campaign(signal ? { signal } : {})
        if (wasLeader) await (this.leadership as TellingLeadership).tellAnyway(true)
      }
    },
    leadership: TellingLeadership,
  },
  {
    lie: 'wakes only the first of several campaigns',
    fails: ['tells one gain for several campaigns at once, and ends them all'],
    elector: class extends HonestElector {
      #isWaiting = false
      override async campaign({ signal }: { readonly signal?: AbortSignal } = {}): Promise<void> {
        if (this.#isWaiting) await new Promise(() => {})
        this.#isWaiting = true
        try {
          await super.campaign(signal ? { signal } : {})
        } finally {
          this.#isWaiting = false
        }
      }
    },
  },
  {
    lie: 'campaigns only once in its life',
    fails: [
      'leaves no listener on its signal, aborted or won',
      'wins again and again after losing, so that there is always a next leader',
      'wins when the backend takes leadership away from the rival, and so does the rival after that',
    ],
    elector: class extends HonestElector {
      #hasWon = false
      override async campaign({ signal }: { readonly signal?: AbortSignal } = {}): Promise<void> {
        signal?.throwIfAborted()
        if (this.#hasWon && !this.isLeader) await new Promise(() => {})
        await super.campaign(signal ? { signal } : {})
        this.#hasWon = true
      }
    },
  },
]
