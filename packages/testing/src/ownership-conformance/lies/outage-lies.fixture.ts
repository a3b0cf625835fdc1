import type { ClaimHolder, ClaimOutcome } from '@es/coordination-core'
import { type ClaimOptions, HonestOwnership } from './honest-ownership.fixture.js'
import type { Lie } from './lie.fixture.js'

export const outageLies: readonly Lie[] = [
  {
    lie: 'denies everything while it is disconnected',
    fails: ['rejects with a ConnectionError while it is disconnected, holds nothing new, and works again afterwards'],
    ownership: class extends HonestOwnership {
      override async claim(subscriptions: readonly string[], options: ClaimOptions = {}): Promise<ClaimOutcome> {
        if (this.isConnected) return await super.claim(subscriptions, options)
        return { claimed: [], denied: subscriptions.map((subscription) => ({ subscription, holder: null })) }
      }
    },
  },
  {
    lie: 'observes nothing while it is disconnected',
    fails: ['rejects with a ConnectionError while it is disconnected, holds nothing new, and works again afterwards'],
    ownership: class extends HonestOwnership {
      override async observe(subscriptions: readonly string[]): Promise<ReadonlyMap<string, ClaimHolder>> {
        return this.isConnected || this.isClosed ? await super.observe(subscriptions) : new Map()
      }
    },
  },
  {
    lie: 'never connects again',
    fails: ['rejects with a ConnectionError while it is disconnected, holds nothing new, and works again afterwards'],
    ownership: class extends HonestOwnership {
      override reconnect(): void {}
    },
  },
  {
    lie: 'does not keep to the timeout',
    slowPower: 'hang',
    fails: [
      'gives up with a ConnectionError when the timeout is over, and holds nothing new',
      'gives up with a ConnectionError when the very first contact is not answered',
    ],
    ownership: class extends HonestOwnership {
      override async claim(subscriptions: readonly string[], { signal }: ClaimOptions = {}): Promise<ClaimOutcome> {
        return await super.claim(subscriptions, signal ? { signal } : {})
      }
    },
  },
  {
    lie: 'denies what the backend does not answer',
    slowPower: 'hang',
    fails: [
      'gives up with a ConnectionError when the timeout is over, and holds nothing new',
      'gives up with a ConnectionError when the very first contact is not answered',
    ],
    ownership: class extends HonestOwnership {
      override async claim(subscriptions: readonly string[], options: ClaimOptions = {}): Promise<ClaimOutcome> {
        this.requireConnection()
        this.requireRoom(subscriptions)
        try {
          return await super.claim(subscriptions, options)
        } catch {
          options.signal?.throwIfAborted()
          return { claimed: [], denied: subscriptions.map((subscription) => ({ subscription, holder: null })) }
        }
      }
    },
  },
  {
    lie: 'leaves an unanswered claim with the backend, which grants it later',
    slowPower: 'hang',
    fails: [
      'grants all or nothing when its signal aborts on the way',
      'gives up with a ConnectionError when the timeout is over, and holds nothing new',
      'gives an unanswered claim up as soon as its signal aborts',
    ],
    ownership: class extends HonestOwnership {
      override async claim(subscriptions: readonly string[], options: ClaimOptions = {}): Promise<ClaimOutcome> {
        this.requireConnection()
        this.requireRoom(subscriptions)
        options.signal?.throwIfAborted()
        let isAnswered = false
        const outcome = super.claim(subscriptions, options)
        outcome.then(
          () => {
            isAnswered = true
          },
          () => {
            if (!isAnswered) this.backend.send(this, () => this.adopt(subscriptions, performance.now()))
          },
        )
        return await outcome
      }
    },
  },
  {
    lie: 'hears the signal of an unanswered claim only before it asks',
    slowPower: 'hang',
    fails: ['gives an unanswered claim up as soon as its signal aborts'],
    ownership: class extends HonestOwnership {
      override async claim(subscriptions: readonly string[], { timeoutSeconds = 10, signal }: ClaimOptions = {}): Promise<ClaimOutcome> {
        signal?.throwIfAborted()
        return await super.claim(subscriptions, { timeoutSeconds })
      }
    },
  },
  {
    lie: 'rejects an unanswered release with an error that is no ConnectionError',
    slowPower: 'hang',
    fails: ['ends its claims at once although their release is not answered'],
    ownership: class extends HonestOwnership {
      override async release(subscriptions: readonly string[]): Promise<void> {
        await super.release(subscriptions).catch((error: unknown) => {
          throw new Error('not released', { cause: error })
        })
      }
    },
  },
  {
    lie: 'waits for ever for the answer to a release',
    slowPower: 'hang',
    fails: ['ends its claims at once although their release is not answered'],
    ownership: class extends HonestOwnership {
      override async release(subscriptions: readonly string[]): Promise<void> {
        await super.release(subscriptions).catch(() => new Promise<void>(() => {}))
      }
    },
  },
  {
    lie: 'observes nothing when the backend does not answer',
    slowPower: 'hang',
    fails: ['rejects an observation that is not answered with a ConnectionError'],
    ownership: class extends HonestOwnership {
      override async observe(subscriptions: readonly string[]): Promise<ReadonlyMap<string, ClaimHolder>> {
        this.requireConnection()
        return await super.observe(subscriptions).catch(() => new Map())
      }
    },
  },
]
