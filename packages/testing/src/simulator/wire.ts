import { type Clock, ConnectionError } from '@es/coordination-core'
import type { SeededRandom } from './seeded-random.js'
import type { SimulatedProcess } from './simulated-process.js'

/** What is wrong with a backend, or with the way to it. */
export interface BackendFault {
  /** A request takes up to this much longer to arrive, and so does its answer, in seconds. @default 0 */
  readonly slowSeconds?: number
  /** Nothing is carried out; whoever asks is told so at once. @default false */
  readonly refuses?: boolean
  /** A request is carried out, and its answer arrives this much later, in seconds: usually after whoever asked gave up. @default 0 */
  readonly lateSeconds?: number
  /** Nothing arrives in either direction, and nobody is told; what was on its way arrives when the fault has ended. @default false */
  readonly isCut?: boolean
}

/** What a {@link Wire} is made of. */
export interface WireOptions {
  readonly clock: Clock
  readonly process: SimulatedProcess
  readonly random: SeededRandom
  /** What is wrong at this moment. */
  readonly faults: () => readonly BackendFault[]
}

// Not zero, so that a request and what it leads to are never one instant.
const SHORTEST_SECONDS = 0.0005
const LONGEST_SECONDS = 0.004

/** The connection of one process to a backend. Requests arrive in the order in which they were sent. */
export class Wire {
  readonly #clock: Clock
  readonly #process: SimulatedProcess
  readonly #random: SeededRandom
  readonly #faults: () => readonly BackendFault[]
  #held: (() => void)[] = []
  #lastArrival = 0

  constructor({ clock, process, random, faults }: WireOptions) {
    this.#clock = clock
    this.#process = process
    this.#random = random
    this.#faults = faults
  }

  /** Whether anything is wrong with it. */
  get isDisturbed(): boolean {
    return this.#faults().length > 0
  }

  /** Whether nothing gets through. */
  get isCut(): boolean {
    return this.#faults().some(({ isCut }) => isCut)
  }

  /**
   * Has `work` done by the backend, and brings its answer back into the process. Never settles once the process is dead.
   *
   * @throws ConnectionError `unreachable` when the backend refuses; nothing was done then.
   * @throws whatever `work` throws.
   */
  request<T>(work: () => T | Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#process.isDead) return
      if (this.#isRefused) {
        const refusal = new ConnectionError('unreachable', 'The simulated backend refuses: it is reachable again when the fault has ended')
        this.notify(() => reject(refusal))
        return
      }
      this.send(() => {
        const answered = (settle: () => void): void => this.#travel(this.#backSeconds(), () => this.#process.pass(settle))
        // Carried out in one step when it is not asynchronous, as by a server.
        try {
          const answer = work()
          if (!(answer instanceof Promise)) answered(() => resolve(answer))
          else
            answer.then(
              (value) => answered(() => resolve(value)),
              (error) => answered(() => reject(error)),
            )
        } catch (error) {
          answered(() => reject(error))
        }
      })
    })
  }

  /** One way to the backend, also for what the operating system still sends for a process that has died. */
  send(arrive: () => void): void {
    const now = this.#clock.monotonicSeconds()
    this.#lastArrival = Math.max(this.#lastArrival, now + this.#oneWaySeconds())
    this.#travel(this.#lastArrival - now, arrive)
  }

  /** One way from the backend into the process. */
  notify(arrive: () => void): void {
    this.#travel(this.#oneWaySeconds(), () => this.#process.pass(arrive))
  }

  /** A fault has ended: brings what waited. */
  mend(): void {
    if (this.isCut) return
    for (const arrive of this.#held.splice(0)) this.#clock.setTimer(0, arrive)
  }

  get #isRefused(): boolean {
    return this.#faults().some(({ refuses }) => refuses)
  }

  #travel(seconds: number, arrive: () => void): void {
    this.#clock.setTimer(seconds, () => {
      if (this.isCut) this.#held.push(arrive)
      else arrive()
    })
  }

  #oneWaySeconds(): number {
    const slowest = Math.max(0, ...this.#faults().map(({ slowSeconds = 0 }) => slowSeconds))
    return this.#random.between(SHORTEST_SECONDS, LONGEST_SECONDS) + (slowest > 0 ? this.#random.next() * slowest : 0)
  }

  #backSeconds(): number {
    return this.#oneWaySeconds() + Math.max(0, ...this.#faults().map(({ lateSeconds = 0 }) => lateSeconds))
  }
}
