// Shows singleton work: a nightly report that several processes stand ready to write, and one of them does. The fencing token of the term goes into
// each write, so that a former leader that was paused in the middle cannot overwrite what the present one wrote. Uses the server of
// DATABASE_URL, or starts one.
import assert from 'node:assert/strict'
import { sleep } from '@es/coordination-core'
import { PostgresLeaderElector } from '@es/coordination-postgres'
import { until } from '@es/coordination-testing'
import { runAsLeader } from '@es/coordination-worker'
import { sharedServer } from '@es/test-server'
import pg from 'pg'

await using server = await sharedServer()
const connection = server.url
const pool = new pg.Pool({ connectionString: connection })
await pool.query('CREATE TABLE report (author text, pages int, fencing_token bigint)')
await pool.query("INSERT INTO report VALUES ('nobody', 0, 0)")

async function writeReports(identity: string, shutdown: AbortSignal): Promise<void> {
  await using elector = new PostgresLeaderElector({ identity, connection, election: 'nightly-report', leaseSeconds: 3 })
  await runAsLeader(
    elector,
    async (signal, term) => {
      while (!signal.aborted) {
        await pool.query('UPDATE report SET author = $1, pages = pages + 1, fencing_token = $2 WHERE fencing_token <= $2', [identity, term])
        await sleep(0.05, { signal }).catch(() => {})
      }
    },
    { signal: shutdown },
  )
}

// Two stand ready; here they are in one process. When the one that leads shuts down, the other is there at once.
const shutdowns: Readonly<Record<string, AbortController>> = { 'worker-1': new AbortController(), 'worker-2': new AbortController() }
const working = Object.entries(shutdowns).map(([identity, { signal }]) => writeReports(identity, signal))

const first = await until(async () => (await report()).pages >= 3 && report(), { what: 'the first pages', withinSeconds: 20 })
console.log(`${first.author} writes the report, in term ${first.fencing_token}`)
shutdowns[first.author]?.abort()
const second = await until(async () => (await report()).author !== first.author && report(), { what: 'another author', withinSeconds: 20 })
console.log(`${second.author} writes on, in term ${second.fencing_token}`)
assert.ok(BigInt(second.fencing_token) > BigInt(first.fencing_token), 'every term has a larger token')

// What a former leader would do that was paused between looking and writing.
const late = await pool.query('UPDATE report SET author = $1, fencing_token = $2 WHERE fencing_token <= $2', ['late', first.fencing_token])
assert.equal(late.rowCount, 0, 'the write of a former term changes nothing')

for (const shutdown of Object.values(shutdowns)) shutdown.abort()
await Promise.all(working)
await pool.end()

async function report(): Promise<{ readonly author: string; readonly pages: number; readonly fencing_token: string }> {
  return (await pool.query('SELECT * FROM report')).rows[0]
}
