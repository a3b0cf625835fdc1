import pg from 'pg'
import type { PostgresSettings, TestServer } from './test-server.js'

/** Where a server of our own keeps its data. */
export async function dataFolderOf({ url }: TestServer): Promise<string> {
  const client = new pg.Client(url)
  try {
    await client.connect()
    const { rows } = await client.query<{ folder: string }>(`SELECT current_setting('data_directory') AS folder`)
    return rows[0]?.folder ?? ''
  } finally {
    await client.end()
  }
}

/** Does `work` while `server` is down, shut down in order, so that its files are consistent. */
export async function whileDown(server: TestServer, work: () => Promise<void>): Promise<void> {
  await server.halt('fast')
  try {
    await work()
  } finally {
    await server.resume()
  }
}

/** What makes a standby follow `primary`. */
export function standbySettings(primary: TestServer): PostgresSettings {
  const { hostname, port, username, password } = new URL(primary.url)
  return { primary_conninfo: `host=${hostname} port=${port} user=${username} password=${password}` }
}
