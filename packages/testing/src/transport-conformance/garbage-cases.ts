import type { CaseGroup } from './case-group.js'
import { saying } from './transport-stage.js'

export const garbageCases: CaseGroup = {
  name: 'garbage on the medium',
  cases: [
    {
      name: 'delivers what comes before and after garbage',
      needs: ['garbage'],
      async run(stage) {
        const inboxes = [await stage.hear(stage.second, 't'), await stage.hear(stage.third, 't'), await stage.hear(stage.third, 't')]
        for (let round = 1; round <= 3; round++) {
          await stage.garbage('t')
          await stage.publish(stage.first, 't', saying(`round ${round}`))
          await stage.heard(`round ${round}`, ...inboxes)
        }
      },
    },
  ],
}
