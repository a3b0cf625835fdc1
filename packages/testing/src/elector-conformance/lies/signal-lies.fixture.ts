import type { TryAcquireOptions } from '@es/coordination-core'
import { campaignBySteps } from './campaign-by-steps.fixture.js'
import { HonestElector } from './honest-elector.fixture.js'
import type { Lie } from './lie.fixture.js'

export const signalLies: readonly Lie[] = [
  {
    lie: 'does not look at the signal of an attempt',
    fails: ['rejects with the reason of a signal that has been aborted, and holds nothing'],
    elector: class extends HonestElector {
      override async tryAcquire({ timeoutSeconds = 10 }: TryAcquireOptions = {}): Promise<boolean> {
        return await super.tryAcquire({ timeoutSeconds })
      }
      override async campaign({ signal }: { readonly signal?: AbortSignal } = {}): Promise<void> {
        await campaignBySteps(this, this.backend, signal)
      }
    },
  },
  {
    lie: 'rejects an aborted attempt with an error of its own',
    fails: ['rejects with the reason of a signal that has been aborted, and holds nothing'],
    elector: class extends HonestElector {
      override async tryAcquire(options: TryAcquireOptions = {}): Promise<boolean> {
        if (options.signal?.aborted) throw new Error('aborted')
        return await super.tryAcquire(options)
      }
      override async campaign({ signal }: { readonly signal?: AbortSignal } = {}): Promise<void> {
        signal?.throwIfAborted()
        await super.campaign(signal ? { signal } : {})
      }
    },
  },
  {
    lie: 'gives leadership up when the signal of the attempt aborts later',
    fails: ['keeps leadership when the signal of a finished attempt aborts', 'leaves no listener on the signal of an attempt'],
    elector: class extends HonestElector {
      override async tryAcquire(options: TryAcquireOptions = {}): Promise<boolean> {
        const answer = await super.tryAcquire(options)
        const { signal } = options
        if (answer && signal) signal.addEventListener('abort', () => void this.release(), { once: true })
        return answer
      }
      override async campaign({ signal }: { readonly signal?: AbortSignal } = {}): Promise<void> {
        await campaignBySteps(this, this.backend, signal)
      }
    },
  },
  {
    lie: 'leaves a listener on the signal of an attempt',
    fails: ['leaves no listener on the signal of an attempt'],
    elector: class extends HonestElector {
      override async tryAcquire(options: TryAcquireOptions = {}): Promise<boolean> {
        const answer = await super.tryAcquire(options)
        options.signal?.addEventListener('abort', () => {}, { once: true })
        return answer
      }
      override async campaign({ signal }: { readonly signal?: AbortSignal } = {}): Promise<void> {
        await campaignBySteps(this, this.backend, signal)
      }
    },
  },
]
