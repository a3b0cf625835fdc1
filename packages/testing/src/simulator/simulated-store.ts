import { type Clock, CoordinationError } from '@es/coordination-core'
import type { HistoryEvent } from '../history/history-event.js'
import type { SeededRandom } from './seeded-random.js'
import type { SimulatedProcess } from './simulated-process.js'

/** What a {@link SimulatedStore} is made of. */
export interface SimulatedStoreOptions {
  readonly clock: Clock
  readonly random: SeededRandom
  /** Told of every write that was accepted. */
  readonly wrote: (event: HistoryEvent) => void
}

/** A write of one run. */
export interface StoreWrite {
  readonly instanceId: string
  readonly subscription: string
  /** `null` in a cluster without claims: such a write is not guarded. */
  readonly token: bigint | null
  /** Where the run believes the checkpoint to be; `null` to read it, and put the token down. */
  readonly after: number | null
  /** How many positions it covers. */
  readonly count: number
}

const SHORTEST_SECONDS = 0.0005
const LONGEST_SECONDS = 0.01

/** The user's store: a checkpoint for each subscription that only ever larger tokens may write. */
export class SimulatedStore {
  readonly #options: SimulatedStoreOptions
  readonly #rows = new Map<string, { position: number; token: bigint | null }>()

  constructor(options: SimulatedStoreOptions) {
    this.#options = options
  }

  /** The last position that was written, 0 for none. */
  positionOf(subscription: string): number {
    return this.#rows.get(subscription)?.position ?? 0
  }

  /**
   * One transaction from inside `process`: refused when a larger token was here, otherwise it writes `count` positions. Resolves to the last one. What is
   * on its way when the process is paused or killed is carried out all the same; a dead process sends nothing, and is never answered.
   *
   * @throws CoordinationError `stale_token` when it is refused; nothing was written then.
   */
  write(process: SimulatedProcess, write: StoreWrite): Promise<number> {
    const { clock } = this.#options
    const sentAt = clock.monotonicSeconds()
    return new Promise((resolve, reject) => {
      if (process.isDead) return
      clock.setTimer(this.#latencySeconds(), () => {
        const position = this.#commit(write, sentAt)
        clock.setTimer(this.#latencySeconds(), () =>
          process.pass(() => {
            if (position !== null) resolve(position)
            else reject(new CoordinationError('stale_token', `A later owner of ${write.subscription} has written: this run is over`))
          }),
        )
      })
    })
  }

  #commit({ instanceId, subscription, token, after, count }: StoreWrite, sentAt: number): number | null {
    const row = this.#rows.get(subscription) ?? { position: 0, token: null }
    if (token !== null && row.token !== null && token < row.token) return null
    const from = (after ?? row.position) + 1
    const position = from + count - 1
    this.#rows.set(subscription, { position, token })
    const at = this.#options.clock.monotonicSeconds()
    this.#options.wrote({ type: 'checkpoint_written', at, sentAt, instanceId, subscription, position, from, token })
    return position
  }

  #latencySeconds(): number {
    return this.#options.random.between(SHORTEST_SECONDS, LONGEST_SECONDS)
  }
}
