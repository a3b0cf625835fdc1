import { ConnectionError, type TryAcquireOptions } from '@es/coordination-core'
import { HonestElector } from './honest-elector.fixture.js'
import type { Lie } from './lie.fixture.js'

export const leaseLies: readonly Lie[] = [
  {
    lie: 'believes in its lease for ever',
    slowPower: 'leaseExpiry',
    fails: ['stops leading within its lease when it is cut off, before a rival leads', 'tells the loss once although nothing answers'],
    elector: class extends HonestElector {
      override get isLeader(): boolean {
        return this.leadership.isLeader
      }
      protected override async onUntrusted(): Promise<void> {}
      override async renew(): Promise<boolean> {
        if (!this.isLeader) return false
        const askedAt = performance.now()
        const isStillLeader = await this.ask(() => this.backend.touch(this), 60)
        if (isStillLeader) this.trustFrom(askedAt)
        else await this.lose()
        return this.isLeader
      }
    },
  },
  {
    lie: 'believes in its lease for half of it too long',
    slowPower: 'leaseExpiry',
    fails: ['stops leading within its lease when it is cut off, before a rival leads', 'can lead again after it was cut off'],
    elector: class extends HonestElector {
      protected override trustFrom(askedAt: number): void {
        super.trustFrom(askedAt + this.backend.leaseSeconds * 700)
      }
      override async renew(): Promise<boolean> {
        if (!this.isLeader) return false
        const askedAt = performance.now()
        const isStillLeader = await this.ask(() => this.backend.touch(this), 60)
        if (isStillLeader) this.trustFrom(askedAt)
        return this.isLeader
      }
    },
  },
  {
    lie: 'does not renew',
    slowPower: 'leaseExpiry',
    fails: ['keeps leading past its lease while it is renewed'],
    elector: class extends HonestElector {
      override async renew(): Promise<boolean> {
        return this.isLeader
      }
    },
  },
  {
    lie: 'stops leading when its lease runs out, but tells nobody before it is asked',
    slowPower: 'leaseExpiry',
    fails: ['tells the loss once although nothing answers'],
    elector: class extends HonestElector {
      protected override async onUntrusted(): Promise<void> {}
      override async renew(): Promise<boolean> {
        if (!this.isLeader) return false
        const askedAt = performance.now()
        const isStillLeader = await this.ask(() => this.backend.touch(this), 60)
        if (isStillLeader) this.trustFrom(askedAt)
        return this.isLeader
      }
    },
  },
  {
    lie: 'never asks again once it was cut off',
    slowPower: 'leaseExpiry',
    fails: ['can lead again after it was cut off'],
    elector: class extends HonestElector {
      #isBroken = false
      override async tryAcquire(options?: TryAcquireOptions): Promise<boolean> {
        return this.#isBroken ? false : await super.tryAcquire(options)
      }
      protected override async ask<T>(request: () => T, timeoutSeconds: number, signal?: AbortSignal): Promise<T> {
        try {
          return await super.ask(request, timeoutSeconds, signal)
        } catch (error) {
          this.#isBroken ||= error instanceof ConnectionError
          throw error
        }
      }
    },
  },
]
