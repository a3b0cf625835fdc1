import { ConnectionError } from '@es/coordination-core'
import { HonestOwnership } from './honest-ownership.fixture.js'
import type { Lie } from './lie.fixture.js'

export const closingLies: readonly Lie[] = [
  {
    lie: 'leaves its claims to the lease when it is closed',
    fails: ['releases everything when it is closed'],
    ownership: class extends HonestOwnership {
      protected override free(claims: Parameters<HonestOwnership['free']>[0]): void {
        if (!this.isClosed) super.free(claims)
      }
    },
  },
  {
    lie: 'calls it a loss when it is closed',
    fails: ['releases everything when it is closed'],
    ownership: class extends HonestOwnership {
      override async close(): Promise<void> {
        this.isClosed = true
        this.backend.takeAway(this)
        this.lose()
      }
    },
  },
  {
    lie: 'lets a listener claim again while it closes',
    fails: ['releases everything when it is closed'],
    ownership: class extends HonestOwnership {
      override async close(): Promise<void> {
        await this.release([...this.claims.keys()])
        this.isClosed = true
      }
    },
  },
  {
    lie: 'goes on after it was closed',
    fails: ['rejects calls with the code closed once it was closed, however often, while its rival goes on'],
    ownership: class extends HonestOwnership {
      override async close(): Promise<void> {
        await super.close()
        this.isClosed = false
      }
    },
  },
  {
    lie: 'can be closed only once',
    fails: ['rejects calls with the code closed once it was closed, however often, while its rival goes on'],
    ownership: class extends HonestOwnership {
      override async close(): Promise<void> {
        this.requireConnection()
        await super.close()
      }
    },
  },
  {
    lie: 'rejects with a ConnectionError of another code once it was closed',
    fails: ['rejects calls with the code closed once it was closed, however often, while its rival goes on'],
    ownership: class extends HonestOwnership {
      protected override requireConnection(): void {
        if (this.isClosed) throw new ConnectionError('unreachable', 'not connected')
        super.requireConnection()
      }
    },
  },
]
