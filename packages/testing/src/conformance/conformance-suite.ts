import type { LogFields, Logger } from '@es/coordination-core'
import { within } from '../time-limit.js'
import type { CaseDefinition, CaseGroup } from './case-definition.js'
import type { ConformanceStage, StageParts } from './conformance-stage.js'
import type { Closable, ConformanceWorld } from './conformance-world.js'

const DEFAULT_PATIENCE_SECONDS = 2

/** The two functions of a test runner that a suite needs: those of vitest, node:test, jest and mocha all fit. */
export interface ConformanceRunner {
  readonly describe: (name: string, body: () => void) => unknown
  readonly it: {
    /** The third argument is how long the case may take at most; runners that do not know it ignore it. */
    (name: string, body: () => Promise<void>, timeoutMilliseconds?: number): unknown
    readonly skip: (name: string, body: () => Promise<void>) => unknown
  }
}

/** One case of a suite, bound to a world. */
export interface ConformanceCase<Power> {
  /** What the case is about, such as `fencing token`. */
  readonly group: string
  /** What the adapter does when it keeps the contract, as a sentence without its subject. Unique within the suite. */
  readonly name: string
  /** Powers that the world would have to declare; empty when the case can run. */
  readonly missingPowers: readonly Power[]
  /** When {@link run} settles at the latest, in seconds. */
  readonly limitSeconds: number
  /**
   * Opens what the case needs, plays the case and closes it again. Rejects when the contract is broken, and within `limitSeconds` when
   * the adapter or the world hangs.
   */
  run(): Promise<void>
}

/** What a {@link ConformanceSuite} is made of. */
export interface ConformanceSuiteOptions<Setup extends Closable, Powers, Stage extends ConformanceStage<Setup, Powers>> {
  /** Name of the contract, for the output. */
  readonly contract: string
  readonly groups: readonly CaseGroup<Stage, keyof Powers & string>[]
  readonly newStage: (parts: StageParts<Setup, Powers>) => Stage
  /** The lease that a world declares. @default none */
  readonly leaseSecondsOf?: (powers: Partial<Powers>) => number | undefined
}

interface Limits {
  readonly open: number
  readonly play: number
  readonly close: number
}

/** The cases of one contract: binds them to worlds and registers them with runners. */
export class ConformanceSuite<Setup extends Closable, Powers extends object, Stage extends ConformanceStage<Setup, Powers>> {
  readonly #options: ConformanceSuiteOptions<Setup, Powers, Stage>

  constructor(options: ConformanceSuiteOptions<Setup, Powers, Stage>) {
    this.#options = options
  }

  /** All cases, those that `world` cannot play included. */
  cases(world: ConformanceWorld<Setup, Powers>): ConformanceCase<keyof Powers & string>[] {
    return this.#options.groups.flatMap((group) => this.#casesOf(group, world))
  }

  /** Registers one test a case; those that `world` cannot play as skipped, with the reason in their name. */
  register({ describe, it }: ConformanceRunner, world: ConformanceWorld<Setup, Powers>): void {
    const { contract, groups } = this.#options
    describe(`${world.name} keeps the contract of ${contract}`, () => {
      for (const group of groups) {
        describe(group.name, () => {
          for (const { name, missingPowers, limitSeconds, run } of this.#casesOf(group, world)) {
            if (missingPowers.length > 0) it.skip(`${name} [the world does not declare: ${missingPowers.join(', ')}]`, run)
            else it(name, run, Math.ceil(limitSeconds * 1000) + 1000)
          }
        })
      }
    })
  }

  #casesOf(
    group: CaseGroup<Stage, keyof Powers & string>,
    world: ConformanceWorld<Setup, Powers>,
  ): ConformanceCase<keyof Powers & string>[] {
    const powers: Partial<Powers> = world.powers ?? {}
    const patience = world.patienceSeconds ?? DEFAULT_PATIENCE_SECONDS
    const leaseSeconds = this.#options.leaseSecondsOf?.(powers) ?? 0
    return group.cases.map((definition) => {
      const limits: Limits = {
        // Opening may have to start a backend.
        open: patience * 5,
        play: patience * 5 + (definition.lasts?.(leaseSeconds) ?? 0),
        close: patience * 5,
      }
      return {
        group: group.name,
        name: definition.name,
        missingPowers: (definition.needs ?? []).filter((power) => powers[power] === undefined),
        limitSeconds: limits.open + limits.play + limits.close,
        run: () => this.#play(definition, world, limits),
      }
    })
  }

  async #play(
    definition: CaseDefinition<Stage, keyof Powers & string>,
    world: ConformanceWorld<Setup, Powers>,
    limits: Limits,
  ): Promise<void> {
    const stage = await within(limits.open, 'open() of the world', this.#open(world))
    let failure: { readonly error: unknown } | undefined
    try {
      await within(limits.play, `The case "${definition.name}"`, definition.run(stage))
    } catch (error) {
      failure = { error }
    }
    try {
      await within(limits.close, 'close() of the world', stage.close())
    } catch (error) {
      // What the case found comes first: an adapter that broke the contract often cannot be closed either.
      failure ??= { error }
    }
    if (failure) throw failure.error
  }

  async #open(world: ConformanceWorld<Setup, Powers>): Promise<Stage> {
    const log: LogFields[] = []
    const record = (fields: LogFields): void => void log.push(fields)
    const logger: Logger = { debug() {}, info() {}, warn: record, error: record }
    const setup = await world.open({ logger })
    const { powers = {} as Powers, patienceSeconds = DEFAULT_PATIENCE_SECONDS } = world
    return this.#options.newStage({ setup, powers, patienceSeconds, log })
  }
}
