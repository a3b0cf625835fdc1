import { type CancelTimer, type Clock, errorMessage } from '@es/coordination-core'
import { Life, type World } from './life.js'
import type { SimulatedProcessOptions } from './simulated-process.js'

/** How fast the platform starts a process again that could not start. */
const PLATFORM_SECONDS = 1

type ProcessQuality = Omit<SimulatedProcessOptions, 'clock'>

/** The instances of a simulation: starts and ends their lives, as a platform, a signal or a power cut does. */
export class Cluster {
  /** Every life so far. */
  readonly lives: Life[] = []
  /** Processes that are there, by instance: at most one of each. */
  readonly present = new Map<string, Life>()
  /** What no instance should ever do. */
  readonly offences: string[] = []
  /** Who was seen leading together. */
  readonly #rivals = new Set<string>()
  readonly #world: World
  readonly #clock: Clock
  /** Who is paused, and what ends that. */
  readonly #pauses = new Map<Life, CancelTimer>()
  /** Starts that are still to come. */
  #pendingStarts = 0

  constructor(world: World, clock: Clock) {
    this.#world = world
    this.#clock = clock
  }

  /** Whether somebody is leaving, or is about to start. */
  get isInMotion(): boolean {
    return this.#pendingStarts > 0 || [...this.present.values()].some(({ phase }) => phase === 'leaving')
  }

  get leaders(): readonly Life[] {
    return [...this.present.values()].filter(({ leads }) => leads)
  }

  /** Starts a process; does nothing when one of that id is there. */
  start(instanceId: string, quality: ProcessQuality = {}): void {
    if (this.present.has(instanceId)) return
    const life = new Life(instanceId, this.lives.length + 1, { clock: this.#clock, ...quality }, this.#world)
    this.lives.push(life)
    this.present.set(instanceId, life)
    this.#record('instance_started', life)
    life.instance.start().catch((error: unknown) => {
      if (life.phase !== 'up') return
      life.record.say(`cannot start: ${errorMessage(error)}`)
      this.kill(life)
      this.startLater(instanceId, PLATFORM_SECONDS, quality)
    })
  }

  startLater(instanceId: string, afterSeconds: number, quality: ProcessQuality = {}): void {
    this.#pendingStarts++
    this.#clock.setTimer(afterSeconds, () => {
      this.#pendingStarts--
      if (!this.present.has(instanceId)) this.#world.chronicle.transcript.step(instanceId, 'starts again')
      this.start(instanceId, quality)
    })
  }

  /** Asks a process to leave in order; `left` is called once it has, and not if it dies before. */
  stop(
    life: Life,
    { drainSeconds, left = () => {} }: { readonly drainSeconds?: number | undefined; readonly left?: () => void } = {},
  ): void {
    life.phase = 'leaving'
    this.#record('stopping', life)
    const leave = async (): Promise<void> => {
      await life.instance.stop(drainSeconds === undefined ? {} : { drainSeconds })
      const timers = life.process.pendingTimers
      await life.adapters.close?.()
      // What it is still to be told after a pause comes first.
      await new Promise<void>((resolve) => life.process.pass(resolve))
      if (life.phase !== 'leaving') return
      const still = life.process.pendingTimers
      if (still > 0)
        this.offences.push(
          `${life.instanceId} has left, and ${still} of its timers are still set (${timers} before its adapters were closed)`,
        )
      this.#record('stopped', life)
      life.record.say('has left')
      this.#forget(life, 'left')
    }
    leave().then(
      () => {
        if (life.phase === 'left') left()
      },
      (error: unknown) => this.offences.push(`${life.instanceId} failed to leave: ${errorMessage(error)}`),
    )
  }

  /** Ends a process at once. Unless `isSilent`, its operating system closes the connections. */
  kill(life: Life, { isSilent = false }: { readonly isSilent?: boolean | undefined } = {}): void {
    this.#record('crashed', life)
    life.process.kill()
    life.running.clear()
    this.#endPause(life)
    this.#world.network.drop(life.instanceId)
    this.#forget(life, 'dead')
    if (!isSilent) life.wire.send(() => life.adapters.endSession())
    this.fallSilent(life, () => true)
  }

  /** Stops a process, for `forSeconds` or until it is resumed. */
  pause(life: Life, forSeconds?: number): void {
    this.#record('paused', life)
    life.process.pause()
    const wake = (): void => {
      this.#world.chronicle.transcript.step(life.instanceId, 'goes on')
      this.resume(life)
    }
    const cancel: CancelTimer = forSeconds === undefined ? () => {} : this.#clock.setTimer(forSeconds, wake)
    this.#pauses.set(life, cancel)
    this.fallSilent(life, () => this.#pauses.get(life) === cancel)
  }

  resume(life: Life): void {
    if (!this.#endPause(life)) return
    this.#record('resumed', life)
    life.process.resume()
  }

  /** The backend hears nothing of an instance: a lease later its session ends, if it `isStillSilent`. Adapters on the wire have sessions that end so. */
  fallSilent({ adapters }: Life, isStillSilent: () => boolean): void {
    if (adapters.usesWire === true) return
    this.#clock.setTimer(this.#world.timings.leaseSeconds, () => {
      if (isStillSilent()) adapters.endSession()
    })
  }

  /** Writes down who still believes, and looks for two leaders. */
  look(): void {
    const { leaders } = this
    for (const { record } of leaders) record.stillLeads()
    if (leaders.length < 2) return
    const names = leaders.map(({ incarnation }) => incarnation).join(' and ')
    if (this.#rivals.has(names)) return
    this.#rivals.add(names)
    this.offences.push(`${names} lead at one instant, at ${this.#clock.monotonicSeconds().toFixed(3)} s for the first time`)
  }

  #endPause(life: Life): boolean {
    this.#pauses.get(life)?.()
    return this.#pauses.delete(life)
  }

  #forget(life: Life, phase: 'left' | 'dead'): void {
    life.phase = phase
    if (this.present.get(life.instanceId) === life) this.present.delete(life.instanceId)
  }

  #record(type: 'instance_started' | 'stopping' | 'stopped' | 'crashed' | 'paused' | 'resumed', { instanceId, incarnation }: Life): void {
    const { chronicle } = this.#world
    if (!chronicle.isKept) return
    const at = chronicle.now()
    chronicle.history.push(type === 'instance_started' ? { type, at, instanceId, incarnation } : { type, at, instanceId })
  }
}
