// One worker process of the demo: a coordinated worker with the demo's `run`, and reports to the parent on what it does.
import { consoleLogger, type Logger } from '@es/coordination-core'
import { PostgresCoordination } from '@es/coordination-postgres'
import { CoordinatedWorker, type Run } from '@es/coordination-worker'
import pg from 'pg'
import { hostSeconds } from '../host-clock.js'
import type { UnstampedReport, WorkerReport, WorkerSettings } from '../worker-messages.js'
import { SUBSCRIPTIONS } from './projections.js'
import { type ProjectionTools, runProjection } from './run-projection.js'
import { sabotageRun, usurp } from './sabotage.js'

const SAMPLE_EVERY_MS = 20

async function main(settings: WorkerSettings): Promise<void> {
  const { worker: instanceId, url, namespace, leaseSeconds, sabotage } = settings
  const logger: Logger = settings.isVerbose ? consoleLogger : { ...consoleLogger, warn() {} }
  const coordination = new PostgresCoordination({
    ...{ instanceId, namespace, leaseSeconds, logger },
    connection: url,
    // Where the server was away for a moment, it is asked again soon.
    longestRetrySeconds: 0.5,
    pollSeconds: 0.2,
  })
  const { elector, ownership, transport } = coordination
  // The work has connections of its own. Those of a worker that is stopped must not hold a checkpoint for longer than its claim.
  const pool = new pg.Pool({
    connectionString: url,
    max: 8,
    connectionTimeoutMillis: 2000,
    application_name: `${instanceId} works`,
    idle_in_transaction_session_timeout: leaseSeconds * 1000,
  })
  pool.on('error', () => {})
  const tools: ProjectionTools = { settings, pool, report }
  const worker = new CoordinatedWorker({
    ...{ instanceId, elector, ownership, transport },
    subscriptions: SUBSCRIPTIONS,
    run: reported(sabotageRun(sabotage, runProjection(tools), tools)),
    // Shorter than the defaults, which suit clusters that live for longer than a minute.
    heartbeatIntervalSeconds: 0.5,
    heartbeatTimeoutSeconds: 2,
    settleSeconds: 1,
    drainTimeoutSeconds: 5,
    handleSignals: true,
    dispose: [coordination, { [Symbol.asyncDispose]: () => pool.end() }],
    logger,
  })
  const stopping = new AbortController()
  const sampling = setInterval(() => sample(coordination), SAMPLE_EVERY_MS)
  elector.onLeaderChange((isLeader) => {
    const token = elector.fencingToken
    if (!isLeader) report({ type: 'unseated' })
    else if (token !== null) report({ type: 'elected', token: String(token) })
  })
  worker.onEvent((event) => {
    if (event.type === 'started') report({ type: 'ready' })
    if (event.type === 'planned') report({ type: 'planned', moves: event.plan.moves.length })
    if (event.type === 'stopping') stopping.abort()
    if (event.type !== 'stopped') return
    clearInterval(sampling)
    if (process.connected) process.disconnect()
  })
  process.once('disconnect', () => void worker.stop())
  await worker.start()
  if (sabotage === 'usurp') await usurp(tools, stopping.signal)
}

/** Told at the first and the last line of the run itself: the intervals in the verdict are what runs did, not what the worker thinks of them. */
function reported(run: Run): Run {
  return async (subscription, context) => {
    const token = String(context.fencingToken)
    report({ type: 'run_started', subscription, token })
    try {
      await run(subscription, context)
    } finally {
      const { code } = (context.signal.reason ?? {}) as { readonly code?: string }
      const cause = context.lost.aborted ? 'lost' : code === 'run_revoked' ? 'revoked' : code === 'run_stopping' ? 'stopping' : 'failed'
      report({ type: 'run_ended', subscription, token, cause })
    }
  }
}

function sample({ elector, ownership }: PostgresCoordination): void {
  // Before the question: a pause between question and stamp must not make anything look longer than it was.
  const at = hostSeconds()
  const leads = elector.fencingToken
  const holds = Object.fromEntries(
    [...ownership.held.values()].map(({ subscription, fencingToken }) => [subscription, String(fencingToken)]),
  )
  report({ type: 'sample', leads: leads === null ? null : String(leads), holds }, at)
}

function report(unstamped: UnstampedReport, at = hostSeconds()): void {
  const stamped: WorkerReport = { ...unstamped, at }
  // The parent may be gone already, which `disconnect` tells.
  if (process.connected) process.send?.(stamped, undefined, undefined, () => {})
}

process.once('message', (settings: WorkerSettings) => {
  main(settings).catch((error: unknown) => {
    console.error(error)
    process.exit(1)
  })
})
