import { randomBytes } from 'node:crypto'
import pg from 'pg'

/** An empty database of one's own: advisory locks and notifications of other databases do not reach it. */
export interface TestDatabase extends AsyncDisposable {
  readonly name: string
  /** Connection string: that of the server with this database in it. */
  readonly url: string
  /** Ends all its sessions and removes it. Idempotent. */
  drop(): Promise<void>
}

/**
 * Makes a database on the server that `serverUrl` connects to. Takes some 50 milliseconds.
 *
 * @param name @default a random one
 * @throws the driver's error; its `code` is `42501` when the user may not make databases.
 */
export async function createDatabase(serverUrl: string, name = `test_${randomBytes(6).toString('hex')}`): Promise<TestDatabase> {
  const run = async (sql: string): Promise<void> => {
    const client = new pg.Client({ connectionString: serverUrl })
    try {
      await client.connect()
      await client.query(sql)
    } finally {
      await client.end()
    }
  }
  const quoted = pg.escapeIdentifier(name)
  await run(`CREATE DATABASE ${quoted}`)
  const url = new URL(serverUrl)
  url.pathname = `/${encodeURIComponent(name)}`
  const drop = (): Promise<void> => run(`DROP DATABASE IF EXISTS ${quoted} WITH (FORCE)`)
  return { name, url: url.href, drop, [Symbol.asyncDispose]: drop }
}
