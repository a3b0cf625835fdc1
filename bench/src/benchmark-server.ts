import { PostgresLeaderElector } from '@es/coordination-postgres'
import { sharedServer, startTestServer, type TestServer } from '@es/test-server'
import { Observer } from './observer.js'

/** A server for the benchmarks. */
export interface BenchmarkServer extends AsyncDisposable {
  readonly url: string
  /** Resolves when locks are granted, which a server that has just started does not do for the length of a lease. */
  untilReady(): Promise<void>
}

/** Starts a server, or uses that of `DATABASE_URL`. */
export async function startBenchmarkServer(): Promise<BenchmarkServer> {
  // Room for fifty listeners, twice. Not more: looking at the lock table takes longer the more connections there may be.
  const server = await (process.env.DATABASE_URL ? sharedServer() : startTestServer({ settings: { max_connections: 120 } }))
  let ready: Promise<void> | null = null
  return {
    url: server.url,
    untilReady() {
      ready ??= untilReady(server)
      return ready
    },
    [Symbol.asyncDispose]: () => end(server),
  }
}

async function untilReady({ url }: TestServer): Promise<void> {
  await using elector = new PostgresLeaderElector({ identity: 'benchmarks', election: 'benchmarks', connection: url })
  await elector.campaign()
}

/** A benchmark that was interrupted leaves its databases behind, which would stay on a server of somebody else's. */
async function end(server: TestServer): Promise<void> {
  await dropScratchDatabases(server.url)
  await server.stop()
}

async function dropScratchDatabases(url: string): Promise<void> {
  await using observer = new Observer(url)
  const names = await observer.query<{ name: string }>(
    `SELECT quote_ident(datname) AS name FROM pg_database WHERE starts_with(datname, current_database() || '_bench_')`,
  )
  for (const { name } of names) await observer.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
}
