import { type ConformanceCase, type ConformanceRunner, ConformanceSuite } from '../conformance/conformance-suite.js'
import { callbackCases } from './callback-cases.js'
import { campaignCases } from './campaign-cases.js'
import { concurrencyCases } from './concurrency-cases.js'
import { currentLeaderCases } from './current-leader-cases.js'
import { fencingCases } from './fencing-cases.js'
import { hangingBackendCases } from './hanging-backend-cases.js'
import { identityCases } from './identity-cases.js'
import type { LeaderElectorElection, LeaderElectorPower, LeaderElectorPowers, LeaderElectorWorld } from './leader-elector-world.js'
import { leaseCases } from './lease-cases.js'
import { nestedCallCases } from './nested-call-cases.js'
import { oneLeaderCases } from './one-leader-cases.js'
import { outsideLossCases } from './outside-loss-cases.js'
import { renewalCases } from './renewal-cases.js'
import { signalCases } from './signal-cases.js'
import { Stage } from './stage.js'

const suite = new ConformanceSuite<LeaderElectorElection, LeaderElectorPowers, Stage>({
  contract: 'LeaderElector',
  groups: [
    identityCases,
    oneLeaderCases,
    renewalCases,
    currentLeaderCases,
    callbackCases,
    nestedCallCases,
    concurrencyCases,
    signalCases,
    fencingCases,
    campaignCases,
    outsideLossCases,
    hangingBackendCases,
    leaseCases,
  ],
  newStage: (parts) => new Stage(parts),
  leaseSecondsOf: ({ leaseExpiry }) => leaseExpiry?.leaseSeconds,
})

/** One case of the suite, bound to a world. */
export type LeaderElectorCase = ConformanceCase<LeaderElectorPower>

/**
 * The conformance suite as data, for runners that {@link leaderElectorConformance} does not fit and for testing the suite itself.
 */
export function leaderElectorCases<Election extends LeaderElectorElection>(world: LeaderElectorWorld<Election>): LeaderElectorCase[] {
  return suite.cases(anyWorld(world))
}

/**
 * Registers the conformance suite of `LeaderElector` with a test runner: one test a sentence of the contract. Cases that need a power
 * which the world does not declare are registered as skipped, with the reason in their name.
 *
 * @example
 * ```ts
 * leaderElectorConformance({ describe, it }, {
 *   name: 'MyElector',
 *   async open({ logger }) {
 *     const backend = await openBackend()
 *     return {
 *       contenders: [new MyElector('a', { backend, logger }), new MyElector('b', { backend, logger })],
 *       close: () => backend.close(),
 *     }
 *   },
 * })
 * ```
 */
export function leaderElectorConformance<Election extends LeaderElectorElection>(
  runner: ConformanceRunner,
  world: LeaderElectorWorld<Election>,
): void {
  suite.register(runner, anyWorld(world))
}

/** The suite hands an election back only to the world that opened it, so what kind of election it is does not matter in between. */
function anyWorld<Election extends LeaderElectorElection>(world: LeaderElectorWorld<Election>): LeaderElectorWorld {
  return world as unknown as LeaderElectorWorld
}
