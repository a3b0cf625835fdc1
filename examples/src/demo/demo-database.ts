import { randomBytes } from 'node:crypto'
import { startTestServer } from '@es/test-server'
import pg from 'pg'
import { APPEND_EVENTS, CREATE_TABLES, SEED_CHECKPOINTS } from './tables.js'

/** Where the demo keeps its tables: a schema of its own. */
export interface DemoDatabase extends AsyncDisposable {
  /** Connection string whose sessions see the schema of the demo, and no other. */
  readonly url: string
  /** Unique to this run: two demos may share a database. */
  readonly schema: string
  /** Restarts the server in order; `null` where the server is somebody else's. */
  readonly restart: (() => Promise<void>) | null
}

/** Takes the server of `DATABASE_URL`, or starts one, and makes a schema on it. Disposal drops the schema, or ends the server. */
export async function openDemoDatabase(): Promise<DemoDatabase> {
  const givenUrl = process.env.DATABASE_URL
  const server = givenUrl ? null : await startTestServer()
  const serverUrl = givenUrl || (server?.url ?? '')
  const schema = `coordination_demo_${randomBytes(4).toString('hex')}`
  const close = async (): Promise<void> => {
    if (server) await server.stop()
    else await withClient(serverUrl, (client) => client.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`))
  }
  try {
    await withClient(serverUrl, (client) => client.query(`CREATE SCHEMA ${schema}`))
  } catch (error) {
    await server?.stop()
    throw error
  }
  return {
    url: withSearchPath(serverUrl, schema),
    schema,
    restart: server && (() => server.restart('fast')),
    [Symbol.asyncDispose]: close,
  }
}

/** Makes the tables, and writes the beginning of the event log. */
export async function prepareTables(
  url: string,
  { events, subscriptions }: { readonly events: number; readonly subscriptions: readonly string[] },
): Promise<void> {
  await withClient(url, async (client) => {
    await client.query(CREATE_TABLES)
    await client.query(APPEND_EVENTS, [events])
    await client.query(SEED_CHECKPOINTS, [subscriptions])
  })
}

/** Runs `work` on a connection that is closed afterwards. */
export async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url })
  // Without a listener a connection that dies while idle would end the process; the next query reports it.
  client.on('error', () => {})
  try {
    await client.connect()
    return await work(client)
  } finally {
    await client.end().catch(() => {})
  }
}

function withSearchPath(serverUrl: string, schema: string): string {
  const url = new URL(serverUrl)
  const options = [url.searchParams.get('options'), `-c search_path=${schema}`].filter(Boolean).join(' ')
  url.searchParams.set('options', options)
  return url.href
}
