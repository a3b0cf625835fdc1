import { within } from '../time-limit.js'
import { callbackCases } from './callback-cases.js'
import { campaignCases } from './campaign-cases.js'
import type { CaseDefinition, CaseGroup } from './case-definition.js'
import { concurrencyCases } from './concurrency-cases.js'
import { currentLeaderCases } from './current-leader-cases.js'
import { fencingCases } from './fencing-cases.js'
import { hangingBackendCases } from './hanging-backend-cases.js'
import { identityCases } from './identity-cases.js'
import type { LeaderElectorElection, LeaderElectorPower, LeaderElectorWorld } from './leader-elector-world.js'
import { leaseCases } from './lease-cases.js'
import { nestedCallCases } from './nested-call-cases.js'
import { oneLeaderCases } from './one-leader-cases.js'
import { outsideLossCases } from './outside-loss-cases.js'
import { renewalCases } from './renewal-cases.js'
import { signalCases } from './signal-cases.js'
import { DEFAULT_PATIENCE_SECONDS, Stage } from './stage.js'

const GROUPS: readonly CaseGroup[] = [
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
]

/** The two functions of a test runner that the suite needs: those of vitest, node:test, jest and mocha all fit. */
export interface ConformanceRunner {
  readonly describe: (name: string, body: () => void) => unknown
  readonly it: {
    /** The third argument is how long the case may take at most; runners that do not know it ignore it. */
    (name: string, body: () => Promise<void>, timeoutMilliseconds?: number): unknown
    readonly skip: (name: string, body: () => Promise<void>) => unknown
  }
}

/** One case of the suite, bound to a world. */
export interface LeaderElectorCase {
  /** What the case is about, such as `fencing token`. */
  readonly group: string
  /** What the elector does when it keeps the contract, as a sentence without its subject. Unique within the suite. */
  readonly name: string
  /** Powers that the world would have to declare; empty when the case can run. */
  readonly missingPowers: readonly LeaderElectorPower[]
  /** When {@link run} settles at the latest, in seconds. */
  readonly limitSeconds: number
  /**
   * Opens an election, plays the case and closes the election. Rejects when the contract is broken, and within `limitSeconds` when
   * the elector or the world hangs.
   */
  run(): Promise<void>
}

/**
 * The conformance suite as data, for runners that {@link leaderElectorConformance} does not fit and for testing the suite itself.
 */
export function leaderElectorCases<Election extends LeaderElectorElection>(world: LeaderElectorWorld<Election>): LeaderElectorCase[] {
  return GROUPS.flatMap((group) => casesOf(group, world))
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
  { describe, it }: ConformanceRunner,
  world: LeaderElectorWorld<Election>,
): void {
  describe(`${world.name} keeps the contract of LeaderElector`, () => {
    for (const group of GROUPS) {
      describe(group.name, () => {
        for (const { name, missingPowers, limitSeconds, run } of casesOf(group, world)) {
          if (missingPowers.length > 0) it.skip(`${name} [the world does not declare: ${missingPowers.join(', ')}]`, run)
          else it(name, run, Math.ceil(limitSeconds * 1000) + 1000)
        }
      })
    }
  })
}

function casesOf<Election extends LeaderElectorElection>(group: CaseGroup, world: LeaderElectorWorld<Election>): LeaderElectorCase[] {
  // The suite hands an election back only to the world that opened it, so what kind of election it is does not matter in between.
  const anyWorld = world as unknown as LeaderElectorWorld
  return group.cases.map((definition) => bind(group.name, definition, anyWorld))
}

function bind(group: string, definition: CaseDefinition, world: LeaderElectorWorld): LeaderElectorCase {
  const powers = world.powers ?? {}
  const patience = world.patienceSeconds ?? DEFAULT_PATIENCE_SECONDS
  const limits = {
    // Opening may have to start a backend.
    open: patience * 5,
    play: patience * 5 + (definition.lasts?.(powers.leaseExpiry?.leaseSeconds ?? 0) ?? 0),
    close: patience * 5,
  }
  return {
    group,
    name: definition.name,
    missingPowers: (definition.needs ?? []).filter((power) => powers[power] === undefined),
    limitSeconds: limits.open + limits.play + limits.close,
    run: () => play(definition, world, limits),
  }
}

async function play(
  definition: CaseDefinition,
  world: LeaderElectorWorld,
  limits: { readonly open: number; readonly play: number; readonly close: number },
): Promise<void> {
  const stage = await within(limits.open, 'open() of the world', Stage.open(world))
  let failure: { readonly error: unknown } | undefined
  try {
    await within(limits.play, `The case "${definition.name}"`, definition.run(stage))
  } catch (error) {
    failure = { error }
  }
  try {
    await within(limits.close, 'close() of the world', stage.close())
  } catch (error) {
    // What the case found comes first: an elector that broke the contract often cannot be closed either.
    failure ??= { error }
  }
  if (failure) throw failure.error
}
