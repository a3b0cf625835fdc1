import type { ClaimOutcome } from '@es/coordination-core'
import { type ClaimOptions, HonestOwnership } from './honest-ownership.fixture.js'
import type { Lie } from './lie.fixture.js'

export const signalLies: readonly Lie[] = [
  {
    lie: 'does not look at the signal',
    fails: ['rejects with the reason of a signal that has been aborted, and holds nothing new'],
    ownership: class extends HonestOwnership {
      override async claim(subscriptions: readonly string[], { timeoutSeconds = 10 }: ClaimOptions = {}): Promise<ClaimOutcome> {
        return await super.claim(subscriptions, { timeoutSeconds })
      }
    },
  },
  {
    lie: 'rejects an aborted call with an error of its own',
    fails: [
      'rejects with the reason of a signal that has been aborted, and holds nothing new',
      'grants all or nothing when its signal aborts on the way',
    ],
    ownership: class extends HonestOwnership {
      override async claim(subscriptions: readonly string[], options: ClaimOptions = {}): Promise<ClaimOutcome> {
        try {
          return await super.claim(subscriptions, options)
        } catch (error) {
          if (options.signal?.aborted) throw new Error('aborted')
          throw error
        }
      }
    },
  },
  {
    lie: 'loses everything when a call is aborted',
    fails: ['rejects with the reason of a signal that has been aborted, and holds nothing new'],
    ownership: class extends HonestOwnership {
      override async claim(subscriptions: readonly string[], options: ClaimOptions = {}): Promise<ClaimOutcome> {
        if (options.signal?.aborted) this.lose()
        return await super.claim(subscriptions, options)
      }
    },
  },
  {
    lie: 'holds what an aborted call was granted',
    fails: ['grants all or nothing when its signal aborts on the way'],
    ownership: class extends HonestOwnership {
      override async claim(subscriptions: readonly string[], { signal, ...options }: ClaimOptions = {}): Promise<ClaimOutcome> {
        signal?.throwIfAborted()
        const outcome = await super.claim(subscriptions, options)
        signal?.throwIfAborted()
        return outcome
      }
    },
  },
  {
    lie: 'releases what was claimed when the signal of the call aborts later',
    fails: ['keeps its claims when the signal of a finished call aborts', 'leaves no listener on the signal of a call'],
    ownership: class extends HonestOwnership {
      override async claim(subscriptions: readonly string[], options: ClaimOptions = {}): Promise<ClaimOutcome> {
        const outcome = await super.claim(subscriptions, options)
        options.signal?.addEventListener('abort', () => void this.release(subscriptions), { once: true })
        return outcome
      }
    },
  },
  {
    lie: 'leaves a listener on the signal of a call',
    fails: ['leaves no listener on the signal of a call'],
    ownership: class extends HonestOwnership {
      override async claim(subscriptions: readonly string[], options: ClaimOptions = {}): Promise<ClaimOutcome> {
        const outcome = await super.claim(subscriptions, options)
        options.signal?.addEventListener('abort', () => {}, { once: true })
        return outcome
      }
    },
  },
]
