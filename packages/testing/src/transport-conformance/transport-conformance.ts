import { type ConformanceCase, type ConformanceRunner, ConformanceSuite } from '../conformance/conformance-suite.js'
import { closingCases } from './closing-cases.js'
import { contentCases } from './content-cases.js'
import { deliveryCases } from './delivery-cases.js'
import { disconnectionCases } from './disconnection-cases.js'
import { failingHandlerCases } from './failing-handler-cases.js'
import { garbageCases } from './garbage-cases.js'
import { subscriptionCases } from './subscription-cases.js'
import { topicCases } from './topic-cases.js'
import { TransportStage } from './transport-stage.js'
import type { TransportMedium, TransportPower, TransportPowers, TransportWorld } from './transport-world.js'

const suite = new ConformanceSuite<TransportMedium, TransportPowers, TransportStage>({
  contract: 'Transport',
  groups: [deliveryCases, topicCases, contentCases, subscriptionCases, failingHandlerCases, disconnectionCases, garbageCases, closingCases],
  newStage: (parts) => new TransportStage(parts),
})

/** One case of the suite, bound to a world. */
export type TransportCase = ConformanceCase<TransportPower>

/** The conformance suite as data, for runners that {@link transportConformance} does not fit and for testing the suite itself. */
export function transportCases<Medium extends TransportMedium>(world: TransportWorld<Medium>): TransportCase[] {
  return suite.cases(anyWorld(world))
}

/**
 * Registers the conformance suite of `Transport` with a test runner: one test a sentence of the contract. Cases that need a power which
 * the world does not declare are registered as skipped, with the reason in their name.
 *
 * Messages may be repeated and reordered. That they may be lost is not made use of: see `TransportMedium.transports`.
 *
 * @example
 * ```ts
 * transportConformance({ describe, it }, {
 *   name: 'MyTransport',
 *   async open({ logger }) {
 *     const bus = await openBus()
 *     const join = () => new MyTransport({ bus, logger })
 *     return { transports: [join(), join(), join()], close: () => bus.close() }
 *   },
 *   powers: { loopback: true },
 * })
 * ```
 */
export function transportConformance<Medium extends TransportMedium>(runner: ConformanceRunner, world: TransportWorld<Medium>): void {
  suite.register(runner, anyWorld(world))
}

/** The suite hands a medium back only to the world that opened it, so what kind of medium it is does not matter in between. */
function anyWorld<Medium extends TransportMedium>(world: TransportWorld<Medium>): TransportWorld {
  return world as unknown as TransportWorld
}
