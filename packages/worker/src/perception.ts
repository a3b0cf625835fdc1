import { A_MOMENT_SECONDS } from './a-moment.js'
import { Hearing } from './hearing.js'
import type { HeartbeatLoop } from './heartbeat-loop.js'
import { Lateness } from './lateness.js'
import type { ParsedWorkerOptions } from './worker-options.js'

// Part of the heartbeat timeout after which an instance that is cut off knows it: before the others take it for gone.
const CUT_OFF_AFTER_TIMEOUTS = 0.9

/** What an instance can tell of the others, and they of it: whether it runs on time, hears the bus, and is heard. */
export class Perception {
  readonly #options: ParsedWorkerOptions
  readonly #heartbeats: HeartbeatLoop
  readonly #lateness: Lateness
  readonly #hearing: Hearing
  readonly #cutOffAfterSeconds: number

  constructor(options: ParsedWorkerOptions, heartbeats: HeartbeatLoop) {
    const { clock, heartbeatTimeoutSeconds, heartbeatIntervalSeconds } = options
    // Whoever missed messages has to hear everybody once, with a little to spare.
    const recoverySeconds = heartbeatIntervalSeconds * 1.2
    this.#options = options
    this.#heartbeats = heartbeats
    this.#cutOffAfterSeconds = CUT_OFF_AFTER_TIMEOUTS * heartbeatTimeoutSeconds
    this.#lateness = new Lateness({ clock, lateAfterSeconds: heartbeatTimeoutSeconds / 3, recoverySeconds })
    this.#hearing = new Hearing({
      ...{ clock, recoverySeconds },
      unsureAfterSeconds: heartbeatTimeoutSeconds / 2,
      deafAfterSeconds: this.#cutOffAfterSeconds,
    })
  }

  start(): void {
    this.#lateness.start()
  }

  stop(): void {
    this.#lateness.stop()
  }

  /** A heartbeat of this instance came in. */
  heardSelf(): void {
    this.#hearing.heardSelf()
  }

  /** Messages may have been missed. */
  missed(): void {
    this.#hearing.missed()
  }

  /** Whether this instance may have missed what its peers said, and cannot tell from their silence. */
  get cannotJudge(): boolean {
    return this.#lateness.isLate || this.#hearing.isUnsure
  }

  /** Whether nothing may begin on the word of the bus alone: this instance may have missed some, or cannot say that it begins. */
  get mayStartNothing(): boolean {
    return this.cannotJudge || this.#heartbeats.outage !== null
  }

  /** Whether the others may take this instance for gone, and nothing but their word keeps two from running the same. */
  get isCutOff(): boolean {
    if (this.#options.ownership !== null) return false
    return this.whyDeaf !== null || this.#heartbeats.unheardForSeconds > this.#cutOffAfterSeconds
  }

  /** In how many seconds it will be cut off if nothing gets through, never 0; infinite when it is already, or cannot tell. */
  get cutOffInSeconds(): number {
    const { unheardForSeconds, outage } = this.#heartbeats
    const isRunningOut = outage !== null && unheardForSeconds <= this.#cutOffAfterSeconds
    const unheardIn = isRunningOut ? this.#cutOffAfterSeconds - unheardForSeconds + A_MOMENT_SECONDS : Number.POSITIVE_INFINITY
    return Math.min(this.#hearing.deafInSeconds, unheardIn)
  }

  /** Why this instance counts as deaf; `null` when it hears. */
  get whyDeaf(): string | null {
    return this.#hearing.whyDeaf
  }

  /** By how much this process was late a moment ago; `null` when it was not. */
  get lateBySeconds(): number | null {
    return this.#lateness.isLate ? this.#lateness.lastDelaySeconds : null
  }
}
