import { HonestElector } from './honest-elector.fixture.js'
import type { Lie } from './lie.fixture.js'

export const renewalLies: readonly Lie[] = [
  {
    lie: 'answers true to every renewal',
    fails: ['answers false to a renewal before it leads, and does not lead by it', 'answers false to a renewal after it released'],
    elector: class extends HonestElector {
      override async renew(): Promise<boolean> {
        return true
      }
    },
  },
  {
    lie: 'takes leadership by renewing',
    fails: ['answers false to a renewal before it leads, and does not lead by it', 'answers false to a renewal after it released'],
    elector: class extends HonestElector {
      override async renew(): Promise<boolean> {
        return await this.tryAcquire()
      }
    },
  },
  {
    lie: 'loses leadership by renewing',
    fails: [
      'answers true to a renewal while it leads, and tells nobody',
      'lets a callback of the leader ask again and renew',
      'keeps one token for the whole term',
      'waits while a rival leads, and wins soon after its release without an instant of two leaders',
      'rejects with the reason as soon as its signal aborts, and holds nothing',
    ],
    elector: class extends HonestElector {
      override async renew(): Promise<boolean> {
        await this.release()
        return false
      }
    },
  },
]
