import { sleep } from '@es/coordination-core'
import type { RunEnding } from '../history/history-event.js'
import type { LifeRecord } from './life-record.js'
import type { SeededRandom } from './seeded-random.js'
import type { SimulatedProcess } from './simulated-process.js'
import type { SimulatedStore } from './simulated-store.js'

/**
 * How a run may misbehave: `throws` after a while · `returns` without having been told to · `is_slow` to end once it was told to · `ignores` that it was
 * told to · `writes_on` for a while although its claim is lost.
 */
export const MISBEHAVIOURS = ['throws', 'returns', 'is_slow', 'ignores', 'writes_on'] as const
export type Misbehaviour = (typeof MISBEHAVIOURS)[number]

/** What a run is told, as `CoordinatedWorker` tells it. */
export interface SimulatedRunContext {
  /** Aborts when the run should end; its reason has a `code`: `run_revoked`, `run_stopping` or `run_lost`. */
  readonly signal: AbortSignal
  /** Aborts when nothing may be written any more. */
  readonly lost: AbortSignal
  /** Guards what it writes; `null` in a cluster without claims. */
  readonly fencingToken: bigint | null
}

/** What a {@link Workload} is made of. */
export interface WorkloadOptions {
  readonly process: SimulatedProcess
  readonly record: LifeRecord
  readonly store: SimulatedStore
  readonly random: SeededRandom
  /** Told of what no instance should ever do. */
  readonly offends: (what: string) => void
  /** What has come over a subscription at this moment; `null` for nothing. */
  readonly habitOf: (subscription: string) => Misbehaviour | null
  /** Runs begin, and end, as this tells. */
  readonly changed: (subscription: string, isRunning: boolean) => void
  /** How long a run that is slow takes. */
  readonly slowSeconds: number
}

const PAUSE_SECONDS = { from: 0.1, until: 1.2 }
const MOST_EVENTS = 3

/** The user's code in one life of an instance: reads the checkpoint, and moves it on now and then until it is told to stop. */
export class Workload {
  readonly #options: WorkloadOptions
  readonly #runs = new Map<string, object>()

  constructor(options: WorkloadOptions) {
    this.#options = options
  }

  /** Runs `subscription` until it is told to stop, more or less. */
  async run(subscription: string, context: SimulatedRunContext): Promise<void> {
    const { process, record } = this.#options
    if (process.isDead) return
    const run = {}
    this.#runs.set(subscription, run)
    this.#options.changed(subscription, true)
    record.runStarted(subscription, context.fencingToken)
    context.signal.addEventListener('abort', () => this.#checkLoss(subscription, context), { once: true })
    try {
      await this.#work(subscription, context)
      this.#ended(subscription, run, causeOf(context.signal) ?? 'failed')
    } catch (error) {
      this.#ended(subscription, run, causeOf(context.signal) ?? 'failed')
      throw error
    }
  }

  /** The instance has given up on the run of `subscription`, which may go on. */
  abandoned(subscription: string): void {
    const run = this.#runs.get(subscription)
    if (run !== undefined) this.#ended(subscription, run, 'abandoned')
  }

  #ended(subscription: string, run: object, cause: RunEnding): void {
    if (this.#runs.get(subscription) !== run || this.#options.process.isDead) return
    this.#runs.delete(subscription)
    this.#options.changed(subscription, false)
    this.#options.record.runStopped(subscription, cause)
  }

  /** Runs rely on `lost`: it is what keeps them from writing more. */
  #checkLoss(subscription: string, { signal, lost }: SimulatedRunContext): void {
    if (causeOf(signal) !== 'lost') return
    queueMicrotask(() => {
      if (!lost.aborted)
        this.#options.offends(`A run of ${subscription} is told that its claim is lost, and its signal \`lost\` has not aborted`)
    })
  }

  async #work(subscription: string, context: SimulatedRunContext): Promise<void> {
    const { random, habitOf, slowSeconds } = this.#options
    const { signal, lost, fencingToken } = context
    // Puts the token down, and reads where to go on.
    let position = await this.#write(subscription, fencingToken, null, 0)
    while (this.#goesOn(subscription, context)) {
      await this.#sleep(random.between(PAUSE_SECONDS.from, PAUSE_SECONDS.until), signal.aborted ? undefined : signal)
      const habit = habitOf(subscription)
      if (habit === 'throws') throw new Error('The simulated run throws, as the scenario wants it')
      if (habit === 'returns') return
      if (!this.#goesOn(subscription, context)) break
      position = await this.#write(subscription, fencingToken, position, 1 + Math.floor(random.next() * MOST_EVENTS))
    }
    if (habitOf(subscription) === 'is_slow' && !lost.aborted) await this.#sleep(slowSeconds)
  }

  #goesOn(subscription: string, { signal, lost }: SimulatedRunContext): boolean {
    if (!signal.aborted) return true
    const habit = this.#options.habitOf(subscription)
    return habit === 'ignores' || (habit === 'writes_on' && lost.aborted)
  }

  async #write(subscription: string, token: bigint | null, after: number | null, count: number): Promise<number> {
    const { store, process, record } = this.#options
    try {
      return await store.write(process, { instanceId: record.instanceId, subscription, token, after, count })
    } catch (error) {
      record.refused(subscription, token)
      throw error
    }
  }

  #sleep(seconds: number, signal?: AbortSignal): Promise<void> {
    return sleep(seconds, { clock: this.#options.process.userClock, signal }).catch(() => {})
  }
}

function causeOf({ aborted, reason }: AbortSignal): RunEnding | null {
  if (!aborted) return null
  const code = (reason as { readonly code?: unknown } | null)?.code
  if (code === 'run_stopping') return 'stopping'
  return code === 'run_lost' ? 'lost' : 'revoked'
}
