import { setMaxListeners } from 'node:events'
import type { CancelTimer, Clock } from '@es/coordination-core'

/** What a {@link SimulatedProcess} is made of. */
export interface SimulatedProcessOptions {
  /** The true time, which the process cannot see. */
  readonly clock: Clock
  /** How far its wall clock is ahead of the true one, in seconds. @default 0 */
  readonly skewSeconds?: number
  /** Seconds that its clocks count in a true second. @default 1 */
  readonly rate?: number
}

/**
 * A process as its code sees it: clocks of its own, and timers that run only while the process does.
 *
 * - While it is paused, as by SIGSTOP, nothing runs in it. Its clocks go on; what falls due or arrives meanwhile runs after {@link resume}, in order, each
 *   step with all that follows from it before the next.
 * - Once it is killed nothing ever runs in it again.
 *
 * `monotonicSeconds()` starts at 0 when the process does.
 */
export class SimulatedProcess implements Clock {
  /** For the user's code: the same clock, but what it leaves behind is not counted in {@link pendingTimers}. */
  readonly userClock: Clock
  readonly #clock: Clock
  readonly #death = new AbortController()
  readonly #timers = new Set<CancelTimer>()
  readonly #bornAt: number
  #held: (() => void)[] = []
  #isPaused = false
  #skewSeconds: number
  #rate: number
  /** A moment of the true clock, and of the own one. */
  #base: { readonly trueSeconds: number; readonly ownSeconds: number }
  #latest = 0

  constructor({ clock, skewSeconds = 0, rate = 1 }: SimulatedProcessOptions) {
    this.#clock = clock
    this.#skewSeconds = skewSeconds
    this.#rate = rate
    this.#bornAt = clock.now().getTime()
    setMaxListeners(0, this.#death.signal)
    this.#base = { trueSeconds: clock.monotonicSeconds(), ownSeconds: 0 }
    this.userClock = {
      now: () => this.now(),
      monotonicSeconds: () => this.monotonicSeconds(),
      setTimer: (delaySeconds, callback) => this.#setTimer(delaySeconds, callback, null),
    }
  }

  get isPaused(): boolean {
    return this.#isPaused
  }

  get isDead(): boolean {
    return this.#death.signal.aborted
  }

  /** Aborts when the process is killed. Not for code inside it, which would not run any more. */
  get death(): AbortSignal {
    return this.#death.signal
  }

  /** Timers that are set, without those of the user's code. */
  get pendingTimers(): number {
    return this.#timers.size
  }

  now(): Date {
    return new Date(this.#bornAt + Math.round((this.monotonicSeconds() + this.#skewSeconds) * 1000))
  }

  monotonicSeconds(): number {
    const { trueSeconds, ownSeconds } = this.#base
    this.#latest = Math.max(this.#latest, ownSeconds + (this.#clock.monotonicSeconds() - trueSeconds) * this.#rate)
    return this.#latest
  }

  /** The true time at which the own monotonic clock shows `ownSeconds`, if its rate stays. */
  toTrueSeconds(ownSeconds: number): number {
    return this.#base.trueSeconds + (ownSeconds - this.#base.ownSeconds) / this.#rate
  }

  setTimer(delaySeconds: number, callback: () => void): CancelTimer {
    return this.#setTimer(delaySeconds, callback, this.#timers)
  }

  /** Moves the wall clock alone, which may go back. */
  jumpWallClock(seconds: number): void {
    this.#skewSeconds += seconds
  }

  /** Makes the clocks run at another rate from now on. Timers that are set are not moved forward, so they may come late. */
  changeRate(rate: number): void {
    this.#base = { trueSeconds: this.#clock.monotonicSeconds(), ownSeconds: this.monotonicSeconds() }
    this.#rate = rate
  }

  /** Runs `step` inside the process: at once, or after the pause, or never. What came before it and waits is not overtaken. */
  pass(step: () => void): void {
    if (this.isDead) return
    if (this.#isPaused || this.#held.length > 0) this.#held.push(step)
    else step()
  }

  pause(): void {
    this.#isPaused = true
  }

  resume(): void {
    if (!this.#isPaused) return
    this.#isPaused = false
    this.#catchUp()
  }

  kill(): void {
    this.#held = []
    for (const cancel of [...this.#timers]) cancel()
    this.#death.abort(new Error('killed'))
  }

  #setTimer(delaySeconds: number, callback: () => void, counted: Set<CancelTimer> | null): CancelTimer {
    if (Number.isNaN(delaySeconds)) throw new RangeError('delaySeconds must be a number, got NaN')
    if (this.isDead) return () => {}
    const dueAt = this.monotonicSeconds() + Math.max(delaySeconds, 0)
    let isOver = false
    let stop: CancelTimer
    const cancel = (): void => {
      isOver = true
      counted?.delete(cancel)
      stop()
    }
    const ring = (): void => {
      // The rate has changed meanwhile.
      if (this.toTrueSeconds(dueAt) > this.#clock.monotonicSeconds() + A_MOMENT) {
        arm()
        return
      }
      this.pass(() => {
        if (isOver) return
        isOver = true
        counted?.delete(cancel)
        // Dividing and multiplying by the rate may lose a hair, and a timer must never see that it came too early.
        this.#latest = Math.max(this.#latest, dueAt)
        callback()
      })
    }
    const arm = (): void => {
      stop = this.#clock.setTimer(this.toTrueSeconds(dueAt) - this.#clock.monotonicSeconds(), ring)
    }
    arm()
    counted?.add(cancel)
    return cancel
  }

  #catchUp(): void {
    if (this.#held.length === 0) return
    this.#clock.setTimer(0, () => {
      if (this.#isPaused) return
      // Still in the list while it runs: what it causes waits behind the others.
      this.#held[0]?.()
      this.#held.shift()
      this.#catchUp()
    })
  }
}

const A_MOMENT = 1e-6
