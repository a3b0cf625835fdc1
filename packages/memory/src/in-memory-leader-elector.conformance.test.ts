import { leaderElectorConformance } from '@es/coordination-testing'
import { describe, it } from 'vitest'
import { InMemoryLeaderElector } from './in-memory-leader-elector.js'
import { SharedLeaderState } from './shared-leader-state.js'

leaderElectorConformance(
  { describe, it },
  {
    name: 'InMemoryLeaderElector',
    async open({ logger }) {
      const options = { sharedState: new SharedLeaderState(), logger }
      return { contenders: [new InMemoryLeaderElector('a', options), new InMemoryLeaderElector('b', options)], async close() {} }
    },
    powers: {
      fencingToken: true,
      campaign: true,
      logging: true,
      currentLeaderWithinSeconds: 0,
      loseLeadership: (election, leader) => election.contenders.find((elector) => elector === leader)!.forceLoseLeadership(),
    },
  },
)
