// One worker process of the demo. What matters is in `work-as-leader.ts`; this file starts it, tells the parent, and ends.
import { PostgresLeaderElector } from '@es/coordination-postgres'
import pg from 'pg'
import { hostSeconds } from '../host-clock.js'
import type { UnstampedReport, WorkerCommand, WorkerReport, WorkerSettings } from '../worker-messages.js'
import { ordersProjection } from './orders-projection.js'
import { type WorkerContext, workAsLeader, workAsUsurper } from './work-as-leader.js'

const SAMPLE_EVERY_MS = 10

function report(unstamped: UnstampedReport, at = hostSeconds()): void {
  const stamped: WorkerReport = { ...unstamped, at }
  // The parent may be gone already, which `disconnect` tells.
  if (process.connected) process.send?.(stamped, undefined, undefined, () => {})
}

async function work(settings: WorkerSettings, signal: AbortSignal): Promise<void> {
  const { worker, url, namespace, leaseSeconds, sabotage } = settings
  const elector = new PostgresLeaderElector({
    identity: worker,
    connection: url,
    election: ordersProjection.subscription,
    namespace,
    leaseSeconds,
  })
  // The work has connections of its own: the elector's is for the lock alone. A worker that is cut off must not hold the checkpoint for ever either.
  const pool = new pg.Pool({
    connectionString: url,
    max: 2,
    application_name: `${worker} works`,
    idle_in_transaction_session_timeout: leaseSeconds * 1000,
  })
  pool.on('error', (error) => console.error(`An idle connection was lost: ${error.message}`))
  const context: WorkerContext = { settings, elector, pool, projection: ordersProjection, report, signal }
  const sampling = reportLeadership(elector)
  try {
    await (sabotage === 'usurp' ? workAsUsurper(context) : workAsLeader(context))
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    sampling.stop()
    await elector.close()
    await pool.end()
  }
}

/** Tells both edges, and samples in between: the intervals in the verdict are what workers said, not what the parent assumes. */
function reportLeadership(elector: PostgresLeaderElector): { stop(): void } {
  elector.onLeaderChange((isLeader) => {
    const token = elector.fencingToken
    if (!isLeader) report({ type: 'lost' })
    else if (token !== null) report({ type: 'elected', token: String(token) })
  })
  let seen: string | null | undefined
  const timer = setInterval(() => {
    // Before the question: a pause between question and stamp must not make a term look longer than it was.
    const at = hostSeconds()
    const token = elector.fencingToken
    if (token !== null) report({ type: 'leading', token: String(token) }, at)
    if (elector.currentLeader === seen) return
    seen = elector.currentLeader
    report({ type: 'sees_leader', leader: seen })
  }, SAMPLE_EVERY_MS)
  return { stop: () => clearInterval(timer) }
}

const stopping = new AbortController()
const stop = (): void => stopping.abort(new Error('the worker was asked to stop'))

process.on('disconnect', stop)
process.on('message', (command: WorkerCommand) => {
  if (command.type === 'stop') return stop()
  work(command.settings, stopping.signal)
    .catch((error: unknown) => {
      console.error(error)
      process.exitCode = 1
    })
    .finally(() => {
      if (process.connected) process.disconnect()
    })
})
