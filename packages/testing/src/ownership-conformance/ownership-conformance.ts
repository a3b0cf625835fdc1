import { type ConformanceCase, type ConformanceRunner, ConformanceSuite } from '../conformance/conformance-suite.js'
import { claimCases } from './claim-cases.js'
import { closingCases } from './closing-cases.js'
import { concurrencyCases } from './concurrency-cases.js'
import { leaseCases } from './lease-cases.js'
import { observationCases } from './observation-cases.js'
import { outageCases } from './outage-cases.js'
import { outsideLossCases } from './outside-loss-cases.js'
import { OwnershipStage } from './ownership-stage.js'
import type { OwnershipContest, OwnershipPower, OwnershipPowers, OwnershipWorld } from './ownership-world.js'
import { releaseCases } from './release-cases.js'
import { signalCases } from './signal-cases.js'
import { tokenCases } from './token-cases.js'

const suite = new ConformanceSuite<OwnershipContest, OwnershipPowers, OwnershipStage>({
  contract: 'Ownership',
  groups: [
    claimCases,
    tokenCases,
    releaseCases,
    observationCases,
    concurrencyCases,
    signalCases,
    outsideLossCases,
    outageCases,
    leaseCases,
    closingCases,
  ],
  newStage: (parts) => new OwnershipStage(parts),
  leaseSecondsOf: ({ leaseExpiry }) => leaseExpiry?.leaseSeconds,
})

/** One case of the suite, bound to a world. */
export type OwnershipCase = ConformanceCase<OwnershipPower>

/** The conformance suite as data, for runners that {@link ownershipConformance} does not fit and for testing the suite itself. */
export function ownershipCases<Contest extends OwnershipContest>(world: OwnershipWorld<Contest>): OwnershipCase[] {
  return suite.cases(anyWorld(world))
}

/**
 * Registers the conformance suite of `Ownership` with a test runner: one test a sentence of the contract. Cases that need a power which
 * the world does not declare are registered as skipped, with the reason in their name.
 *
 * One case stops the whole process for the lease that the world declares, so run no others beside it.
 *
 * @example
 * ```ts
 * ownershipConformance({ describe, it }, {
 *   name: 'MyOwnership',
 *   async open() {
 *     const backend = await openBackend()
 *     return { contenders: [new MyOwnership('a', { backend }), new MyOwnership('b', { backend })], close: () => backend.close() }
 *   },
 *   powers: { namesHolders: true },
 * })
 * ```
 */
export function ownershipConformance<Contest extends OwnershipContest>(runner: ConformanceRunner, world: OwnershipWorld<Contest>): void {
  suite.register(runner, anyWorld(world))
}

/** The suite hands a contest back only to the world that opened it, so what kind of contest it is does not matter in between. */
function anyWorld<Contest extends OwnershipContest>(world: OwnershipWorld<Contest>): OwnershipWorld {
  return world as unknown as OwnershipWorld
}
