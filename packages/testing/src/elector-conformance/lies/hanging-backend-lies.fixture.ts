import type { TryAcquireOptions } from '@es/coordination-core'
import { campaignBySteps } from './campaign-by-steps.fixture.js'
import { HonestElector } from './honest-elector.fixture.js'
import type { Lie } from './lie.fixture.js'

export const hangingBackendLies: readonly Lie[] = [
  {
    lie: 'does not keep to the timeout',
    slowPower: 'hang',
    fails: [
      'gives up with a ConnectionError when the timeout is over, and holds nothing afterwards',
      'gives up with a ConnectionError when the very first contact is not answered',
    ],
    elector: class extends HonestElector {
      override async tryAcquire({ signal }: TryAcquireOptions = {}): Promise<boolean> {
        return await super.tryAcquire(signal ? { signal } : {})
      }
    },
  },
  {
    lie: 'answers false when the backend does not answer',
    slowPower: 'hang',
    fails: [
      'gives up with a ConnectionError when the timeout is over, and holds nothing afterwards',
      'gives up with a ConnectionError when the very first contact is not answered',
    ],
    elector: class extends HonestElector {
      override async tryAcquire(options: TryAcquireOptions = {}): Promise<boolean> {
        try {
          return await super.tryAcquire(options)
        } catch (error) {
          options.signal?.throwIfAborted()
          void error
          return false
        }
      }
    },
  },
  {
    lie: 'rejects an unanswered attempt with an error that is no ConnectionError',
    slowPower: 'hang',
    fails: [
      'gives up with a ConnectionError when the timeout is over, and holds nothing afterwards',
      'gives up with a ConnectionError when the very first contact is not answered',
    ],
    elector: class extends HonestElector {
      override async tryAcquire(options: TryAcquireOptions = {}): Promise<boolean> {
        try {
          return await super.tryAcquire(options)
        } catch (error) {
          options.signal?.throwIfAborted()
          throw new Error('timed out', { cause: error })
        }
      }
    },
  },
  {
    lie: 'leaves an unanswered attempt with the backend, which grants it later',
    slowPower: 'hang',
    fails: [
      'gives up with a ConnectionError when the timeout is over, and holds nothing afterwards',
      'gives an unanswered attempt up as soon as its signal aborts',
    ],
    elector: class extends HonestElector {
      protected override async ask<T>(request: () => T, timeoutSeconds: number, signal?: AbortSignal): Promise<T> {
        let isWaitedFor = true
        try {
          return await super.ask(request, timeoutSeconds, signal)
        } catch (error) {
          isWaitedFor = false
          throw error
        } finally {
          if (!isWaitedFor) this.backend.send(this, request)
        }
      }
    },
  },
  {
    lie: 'hears the signal of an unanswered attempt only before it asks',
    slowPower: 'hang',
    fails: ['gives an unanswered attempt up as soon as its signal aborts'],
    elector: class extends HonestElector {
      override async tryAcquire({ timeoutSeconds = 10, signal }: TryAcquireOptions = {}): Promise<boolean> {
        signal?.throwIfAborted()
        return await super.tryAcquire({ timeoutSeconds })
      }
      override async campaign({ signal }: { readonly signal?: AbortSignal } = {}): Promise<void> {
        await campaignBySteps(this, this.backend, signal)
      }
    },
  },
  {
    lie: 'keeps leading when a release is not answered',
    slowPower: 'hang',
    fails: ['gives leadership up by itself when a release is not answered'],
    elector: class extends HonestElector {
      override async release(): Promise<void> {
        if (!this.isLeader) return
        await this.ask(() => {}, 0.3)
        await super.release()
      }
    },
  },
  {
    lie: 'rejects a renewal that is not answered',
    slowPower: 'hang',
    fails: ['answers false to a renewal that is never answered, and tells the loss'],
    elector: class extends HonestElector {
      override async renew(): Promise<boolean> {
        if (this.isLeader) await this.ask(() => {}, 0.3)
        return await super.renew()
      }
    },
  },
]
