import { HonestElector } from './honest-elector.fixture.js'
import type { Lie } from './lie.fixture.js'
import { SilentLeadership, TellingLeadership } from './lying-leaderships.fixture.js'

export const outsideLossLies: readonly Lie[] = [
  {
    lie: 'does not notice that the backend took leadership away',
    fails: [
      'has a larger token after the backend took leadership away',
      'wins when the backend takes leadership away from the rival, and so does the rival after that',
      'tells the loss once, and the rival can lead',
    ],
    elector: class extends HonestElector {
      override onTakenAway(): void {}
    },
  },
  {
    lie: 'stops leading without a word when the backend took leadership away',
    fails: ['tells the loss once, and the rival can lead'],
    elector: class extends HonestElector {
      override onTakenAway(): void {
        this.backend.send(this, () => (this.leadership as SilentLeadership).loseSilently())
      }
    },
    leadership: SilentLeadership,
  },
  {
    lie: 'tells a loss to the backend and a loss by release as two',
    fails: ['tells the loss once, and the rival can lead', 'tells one loss when leadership is lost and released at once'],
    elector: class extends HonestElector {
      override onTakenAway(): void {
        this.backend.send(this, () => void (this.leadership as TellingLeadership).tellAnyway(false).then(() => this.lose()))
      }
    },
    leadership: TellingLeadership,
  },
]
