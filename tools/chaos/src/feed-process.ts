// Fills the event log until it is told to end (SIGTERM), through every failure of the database. What was not acknowledged is not tried again: it may be
// in the log or not, and only what was acknowledged counts. Its only argument is its settings, as JSON.
import { closeSync, openSync, writeSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import type { Acknowledged, FeedSettings } from './feed/feed-settings.js'
import { APPEND_EVENTS } from './store-tables.js'

const APPEND_EVERY_MS = 100
const RETRY_MS = 100

const settings: FeedSettings = JSON.parse(process.argv[2] ?? '')

async function main(): Promise<void> {
  const ending = new AbortController()
  process.once('SIGTERM', () => ending.abort())
  process.once('disconnect', () => process.exit())
  const file = openSync(settings.acknowledgements, 'a')
  const pool = new pg.Pool({
    connectionString: settings.connection,
    max: 1,
    connectionTimeoutMillis: 2000,
    query_timeout: 5000,
    application_name: 'feed',
  })
  pool.on('error', () => {})
  const { signal } = ending
  const startedAt = performance.now()
  for (let sent = 0; !signal.aborted; ) {
    await wait(APPEND_EVERY_MS, undefined, { signal }).catch(() => {})
    const due = Math.floor(((performance.now() - startedAt) / 1000) * settings.eventsPerSecond)
    if (due === sent) continue
    const batch: Acknowledged = { from: sent + 1, to: due }
    sent = due
    try {
      await pool.query(APPEND_EVENTS, [Array.from({ length: batch.to - batch.from + 1 }, (_, index) => batch.from + index)])
      writeSync(file, `${JSON.stringify(batch)}\n`)
    } catch {
      await wait(RETRY_MS, undefined, { signal }).catch(() => {})
    }
  }
  closeSync(file)
  await pool.end()
  process.removeAllListeners('disconnect')
  if (process.connected) process.disconnect()
}

await main()
