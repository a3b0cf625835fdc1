import { until } from '@es/coordination-testing'
import pg from 'pg'

/** A connection that looks at a database from outside. */
export class Observer implements AsyncDisposable {
  readonly #client: pg.Client
  #connected: Promise<unknown> | null = null

  constructor(connectionString: string) {
    this.#client = new pg.Client({ connectionString })
    // Without a listener a lost connection would end the process.
    this.#client.on('error', () => {})
  }

  async query<Row extends pg.QueryResultRow>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    this.#connected ??= this.#client.connect()
    await this.#connected
    return (await this.#client.query<Row>(text, [...values])).rows
  }

  /** Resolves when a session of this database is waiting for an advisory lock. */
  async untilSomebodyWaits(): Promise<void> {
    const waiting = `SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
                       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`
    await until(async () => (await this.query(waiting)).length > 0, {
      what: 'somebody to wait for the lock',
      withinSeconds: 30,
      everySeconds: 0.01,
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#connected
    await this.#client.end()
  }
}
