import { createDatabase, type TestDatabase } from './test-database.js'
import { startTestServer, type TestServer } from './test-server.js'

/**
 * The server that the environment variable `DATABASE_URL` names, or else one of its own as {@link startTestServer} starts it.
 *
 * On the server of someone else, `url` is that of a database made for the caller, which `stop` removes, or that of the given
 * database when its user may not make one. It cannot be restarted: `restart`, `halt` and `resume` reject.
 */
export async function sharedServer(): Promise<TestServer> {
  const url = process.env.DATABASE_URL
  if (!url) return startTestServer()

  const database = await createDatabase(url).catch((error: unknown): Pick<TestDatabase, 'url' | 'drop'> => {
    if (isPermissionError(error)) return { url, drop: async () => {} }
    throw new Error(`The PostgreSQL server of DATABASE_URL cannot be used: ${error instanceof Error ? error.message : error}`, {
      cause: error,
    })
  })
  const refuse = async (): Promise<never> => {
    throw new Error('The server of DATABASE_URL cannot be stopped or restarted from here. Use startTestServer() for a server of your own.')
  }
  let stopped: Promise<void> | undefined
  const stop = (): Promise<void> => {
    stopped ??= database.drop()
    return stopped
  }
  return { url: database.url, restart: refuse, halt: refuse, resume: refuse, stop, [Symbol.asyncDispose]: stop }
}

function isPermissionError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '42501'
}
