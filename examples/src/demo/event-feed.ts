import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { APPEND_EVENTS, LOG_END } from './tables.js'
import { isOutage } from './worker/database-outage.js'

const APPEND_EVERY_MS = 100
const RETRY_MS = 100

/** Appends to the event log while the demo lasts, so that there is work at every moment, however fast the machine is. */
export class EventFeed implements AsyncDisposable {
  readonly #pool: pg.Pool
  readonly #eventsPerSecond: number
  readonly #ending = new AbortController()
  readonly #running: Promise<void>
  #failure: unknown = null

  constructor(url: string, { eventsPerSecond }: { readonly eventsPerSecond: number }) {
    this.#eventsPerSecond = eventsPerSecond
    this.#pool = new pg.Pool({ connectionString: url, max: 1, connectionTimeoutMillis: 2000 })
    this.#pool.on('error', () => {})
    this.#running = this.#run().catch((error: unknown) => {
      this.#failure = error
    })
  }

  /** Ends the log. Returns the position of its last event. @throws what kept the feed from appending. */
  async finish(): Promise<number> {
    this.#ending.abort()
    await this.#running
    if (this.#failure !== null) throw this.#failure
    const { rows } = await this.#pool.query<{ position: string }>(LOG_END)
    return Number(rows[0]?.position)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort()
    await this.#running
    await this.#pool.end()
  }

  async #run(): Promise<void> {
    const { signal } = this.#ending
    let fedAt = performance.now()
    while (!signal.aborted) {
      await wait(APPEND_EVERY_MS, undefined, { signal }).catch(() => {})
      const now = performance.now()
      const events = Math.floor(((now - fedAt) / 1000) * this.#eventsPerSecond)
      if (events === 0) continue
      fedAt = now
      try {
        await this.#pool.query(APPEND_EVENTS, [events])
      } catch (error) {
        // Whether they were written or not: the next ones go behind whatever is there.
        if (!isOutage(error)) throw error
        await wait(RETRY_MS, undefined, { signal }).catch(() => {})
      }
    }
  }
}
