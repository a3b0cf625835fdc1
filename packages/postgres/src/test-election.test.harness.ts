import { until } from '@es/coordination-testing'
import { createDatabase } from '@es/test-server'
import pg from 'pg'
import { PostgresLeaderElector } from './postgres-leader-elector.js'
import type { PostgresLockSessionOptions } from './postgres-lock-session.js'
import { RecordingLogger } from './recording-logger.test.harness.js'

/** Short enough for tests, long enough for a busy machine of two cores. */
export const LEASE_SECONDS = 1.5
export const WAIT_SLICE_SECONDS = 0.25

type Options = Partial<PostgresLockSessionOptions> & { readonly election?: string; readonly longestRetrySeconds?: number }

/** A database with a bystander's connection, and electors on it that are closed in the end. */
export class TestElection implements AsyncDisposable {
  readonly url: string
  readonly admin: pg.Client
  readonly logger = new RecordingLogger()
  readonly electors: PostgresLeaderElector[] = []
  readonly #drop: () => Promise<void>

  /** In a new database of the server; waits until the server is older than the lease, or else nobody could lead (L5). */
  static async on(serverUrl: string): Promise<TestElection> {
    const database = await createDatabase(serverUrl)
    const admin = await connect(database.url)
    const election = new TestElection(database.url, admin, () => database.drop())
    await election.waitForServerOfAge()
    return election
  }

  private constructor(url: string, admin: pg.Client, drop: () => Promise<void>) {
    this.url = url
    this.admin = admin
    this.#drop = drop
  }

  join(identity: string, options: Options = {}): PostgresLeaderElector {
    const elector = new PostgresLeaderElector({
      identity,
      election: 'e',
      connection: this.url,
      leaseSeconds: LEASE_SECONDS,
      waitSliceSeconds: WAIT_SLICE_SECONDS,
      requestTimeoutSeconds: 3,
      longestRetrySeconds: 0.5,
      logger: this.logger,
      ...options,
    })
    this.electors.push(elector)
    return elector
  }

  async query<Row extends pg.QueryResultRow = Record<string, unknown>>(sql: string, values: readonly unknown[] = []): Promise<Row[]> {
    return (await this.admin.query<Row>(sql, [...values])).rows
  }

  /** Sessions and advisory locks of this database but for the bystander's. */
  async leftovers(): Promise<{ sessions: number; locks: number }> {
    const [row] = await this.query<{ sessions: number; locks: number }>(`
      SELECT (SELECT count(*)::int FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()) AS sessions,
             (SELECT count(*)::int FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())) AS locks`)
    return row ?? { sessions: -1, locks: -1 }
  }

  /** The advisory locks of this database: key, and name of the session. */
  locks(): Promise<{ key: string; name: string }[]> {
    return this.query(`
      SELECT ((l.classid::bigint << 32) | l.objid::bigint)::text AS key, a.application_name AS name FROM pg_locks AS l JOIN pg_stat_activity AS a USING (pid)
       WHERE l.locktype = 'advisory' AND l.granted AND a.datname = current_database() ORDER BY 1`)
  }

  /** Ends the sessions of one identity; how many there were, among them such as are ending already. */
  async terminate(identity: string): Promise<number> {
    const ended = await this.query(
      `SELECT pid, pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name = $1`,
      [identity],
    )
    const pids = ended.map(({ pid }) => pid)
    // A session that is ending is still shown for a moment, and would be taken for the next one.
    await until(async () => (await this.query(`SELECT FROM pg_stat_activity WHERE pid = ANY ($1::int[])`, [pids])).length === 0, {
      what: `the session of ${identity} to end`,
    })
    return pids.length
  }

  /** Resolves when whoever campaigns waits inside the server. */
  async waitForWaiter(identity: string): Promise<void> {
    await until(
      async () =>
        (
          await this.query(
            `SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = $1 AND wait_event_type = 'Lock'`,
            [identity],
          )
        ).length > 0,
      { what: `${identity} to wait in line`, withinSeconds: 15 },
    )
  }

  async waitForServerOfAge(): Promise<void> {
    await until(
      async () =>
        (
          await this.query(
            `SELECT FROM (SELECT clock_timestamp() - greatest(pg_postmaster_start_time(), (SELECT stats_reset FROM pg_stat_bgwriter)) AS age) AS a
              WHERE age > make_interval(secs => $1)`,
            [LEASE_SECONDS],
          )
        ).length > 0,
      { what: 'the server to be older than the lease', withinSeconds: 15 },
    )
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.electors.map((elector) => elector.close()))
    await this.admin.end()
    await this.#drop()
  }
}

/** A plain connection that survives its own loss. */
export async function connect(config: string | pg.ClientConfig): Promise<pg.Client> {
  const client = new pg.Client(config)
  client.on('error', () => {})
  await client.connect()
  return client
}

/** `url` with another address in it, such as that of a proxy. */
export function through(url: string, { host, port }: { readonly host: string; readonly port: number }): string {
  const changed = new URL(url)
  changed.hostname = host
  changed.port = String(port)
  return changed.href
}
