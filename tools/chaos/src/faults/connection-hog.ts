import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'

const TOO_MANY_CONNECTIONS = '53300'
const AGAIN_EVERY_MS = 10

/** Takes every connection that the server has to give, and each that becomes free, until it is disposed of. */
export class ConnectionHog implements AsyncDisposable {
  readonly #url: string
  readonly #clients: pg.Client[] = []
  readonly #ending = new AbortController()
  readonly #taking: Promise<void>
  #refusals = 0

  constructor(url: string) {
    this.#url = url
    this.#taking = this.#keepTaking()
  }

  /** How often the server had none to give. */
  get refusals(): number {
    return this.#refusals
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort()
    await this.#taking
    await Promise.all(this.#clients.map((client) => client.end().catch(() => {})))
  }

  async #keepTaking(): Promise<void> {
    const { signal } = this.#ending
    while (!signal.aborted) {
      const client = new pg.Client({ connectionString: this.#url, application_name: 'hog', connectionTimeoutMillis: 2000 })
      client.on('error', () => {})
      try {
        await client.connect()
        this.#clients.push(client)
      } catch (error) {
        if ((error as { readonly code?: unknown }).code === TOO_MANY_CONNECTIONS) this.#refusals++
        await wait(AGAIN_EVERY_MS, undefined, { signal }).catch(() => {})
      }
    }
  }
}
