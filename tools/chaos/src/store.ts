import { randomBytes } from 'node:crypto'
import { appendFile } from 'node:fs/promises'
import { startTestServer, type TestServer } from '@es/test-server'
import pg from 'pg'
import { CREATE_TABLES, SEED_PROJECTIONS } from './store-tables.js'

/** Connections of the server, of which three are for its superuser: some thirty are in use, and the rest can be taken away. */
const MAX_CONNECTIONS = 60

/** The server of a run. */
export interface Store extends AsyncDisposable {
  readonly server: TestServer
  /** Connection string of the superuser, for what is done to the others. */
  readonly adminUrl: string
  /** Connection string of the role that workers and feed use; it has no privilege but to own its tables. */
  readonly url: string
}

/** Starts a server with an empty log, and a projection for each of `subscriptions`. Always one of its own: it will be stopped and crashed. */
export async function openStore(subscriptions: readonly string[]): Promise<Store> {
  const server = await startTestServer({
    // The time of a commit is what the judge orders writes by.
    settings: { max_connections: MAX_CONNECTIONS, track_commit_timestamp: true },
  })
  try {
    const password = randomBytes(12).toString('hex')
    await withClient(server.url, (client) =>
      client.query(`CREATE ROLE chaos LOGIN PASSWORD '${password}'; GRANT CREATE ON SCHEMA public TO chaos`),
    )
    const url = new URL(server.url)
    url.username = 'chaos'
    url.password = password
    await withClient(url.href, async (client) => {
      await client.query(CREATE_TABLES)
      await client.query(SEED_PROJECTIONS, [subscriptions])
    })
    return { server, adminUrl: server.url, url: url.href, [Symbol.asyncDispose]: () => server.stop() }
  } catch (error) {
    await server.stop()
    throw error
  }
}

/** Lets the workers of a private network in. Whoever can make one is root, and so can write the server's file. */
export async function admitNetwork(adminUrl: string, network: string): Promise<void> {
  await withClient(adminUrl, async (client) => {
    const { rows } = await client.query<{ hba_file: string }>('SHOW hba_file')
    await appendFile(rows[0]?.hba_file ?? '', `host all chaos ${network} scram-sha-256\n`)
    await client.query('SELECT pg_reload_conf()')
  })
}

/** Runs `work` on a connection that is closed afterwards. */
export async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5000 })
  // Without a listener a connection that dies while idle would end the process; the next query reports it.
  client.on('error', () => {})
  try {
    await client.connect()
    return await work(client)
  } finally {
    await client.end().catch(() => {})
  }
}
