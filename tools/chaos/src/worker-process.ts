// One worker of the cluster under test: a coordinated worker whose adapters and runs are recorded. Its only argument is its settings, as JSON.
import { setTimeout as wait } from 'node:timers/promises'
import { errorMessage, type Logger, sleep } from '@es/coordination-core'
import { PostgresCoordination, PostgresLeaderElector, PostgresOwnership, PostgresTransport } from '@es/coordination-postgres'
import { CoordinatedWorker, type WorkerEvent } from '@es/coordination-worker'
import pg from 'pg'
import { HistoryFile } from './history-file.js'
import { hostSeconds } from './host-clock.js'
import { BeliefRecorder } from './worker/belief-recorder.js'
import { projectionRun, type RunTools } from './worker/projection-run.js'
import { RecordedElector, RecordedOwnership } from './worker/recorded-adapters.js'
import { RunRecorder } from './worker/recorded-run.js'
import { RecordingClock } from './worker/recording-clock.js'
import { runWithoutClaim, sabotagedRun } from './worker/sabotaged-run.js'
import type { WorkerOrder, WorkerReport, WorkerSettings } from './worker/worker-settings.js'

// Renewals are sent often enough all the same, and trust lasts for twice the lease and more.
const SLOW_CLOCK_RATE = 0.4
const LONGEST_TRUST = 1 / 1.1
const SLUGGISH_SECONDS = 8
const START_AGAIN_MS = 200

const settings: WorkerSettings = JSON.parse(process.argv[2] ?? '')
const { instanceId, cluster, subscriptions, sabotage } = settings
const { leaseSeconds } = cluster

const log = (message: string): void => void process.stdout.write(`${hostSeconds().toFixed(3)} ${message}\n`)
const logger: Logger = {
  debug() {},
  info() {},
  warn: (fields, message) => log(`warning: ${message} ${describe(fields)}`),
  error: (fields, message) => log(`error: ${message} ${describe(fields)}`),
}

function describe({ error, reason, subscription }: Readonly<Record<string, unknown>>): string {
  const cause = error ?? reason
  return [subscription, cause === undefined ? undefined : errorMessage(cause)].filter((each) => each !== undefined).join(': ')
}

function report(message: WorkerReport): void {
  // The parent may be gone already, which `disconnect` tells.
  if (process.connected) process.send?.(message, undefined, undefined, () => {})
}

/** The adapters, in one of the two ways in which they can be put together, and what has to be closed in the end. */
function openAdapters(clock: RecordingClock) {
  const trust = sabotage === 'slow-clock' ? { renewDeadlineSeconds: leaseSeconds * LONGEST_TRUST } : {}
  const shared = { ...cluster, ...trust, clock, logger, connection: settings.connection, namespace: 'chaos' }
  if (settings.elector === 'shared') {
    const coordination = new PostgresCoordination({ ...shared, instanceId })
    return { ...pickAdapters(coordination), closing: [coordination] }
  }
  const elector = new PostgresLeaderElector({ ...shared, identity: instanceId, election: 'default' })
  const ownership = new PostgresOwnership({ ...shared, identity: instanceId })
  const transport = new PostgresTransport({ ...shared, instanceId })
  return { elector, ownership, transport, closing: [elector, ownership, transport] }
}

function pickAdapters({ elector, ownership, transport }: PostgresCoordination) {
  return { elector, ownership, transport }
}

async function main(): Promise<void> {
  using file = new HistoryFile(settings.history)
  const clock = new RecordingClock({ rate: sabotage === 'slow-clock' ? SLOW_CLOCK_RATE : 1 })
  const { elector, ownership, transport, closing } = openAdapters(clock)
  using recorder = new BeliefRecorder({
    ...{ instanceId, file, clock, elector },
    horizonSeconds: leaseSeconds / SLOW_CLOCK_RATE,
    changed: (leads, owns) => report({ type: 'holds', leads, owns }),
  })
  // The work has connections of its own. Those of a worker that stands still must not hold a checkpoint for longer than its claim.
  const pool = new pg.Pool({
    connectionString: settings.connection,
    max: 4,
    connectionTimeoutMillis: 2000,
    query_timeout: 5000,
    application_name: `${instanceId} works`,
    idle_in_transaction_session_timeout: leaseSeconds * 1000,
  })
  pool.on('error', () => {})
  const runs = new RunRecorder(instanceId, file)
  const tools: RunTools = { instanceId, pool, file, log }
  const worker = new CoordinatedWorker({
    ...cluster,
    ...{ instanceId, subscriptions, transport, logger },
    incarnation: `${instanceId}/${process.pid}`,
    elector: new RecordedElector(elector, recorder),
    ownership: new RecordedOwnership(ownership, recorder, sabotage === 'sluggish' ? SLUGGISH_SECONDS : 0),
    run: runs.recorded(sabotagedRun(sabotage, projectionRun(tools), tools)),
    dispose: [...closing, { [Symbol.asyncDispose]: () => pool.end() }],
  })

  const stopping = new AbortController()
  let isStarted = false
  const stopped = new Promise<void>((resolve) => {
    worker.onEvent((event) => {
      onEvent(event, { file, runs })
      isStarted ||= event.type === 'started'
      if (event.type === 'stopped') resolve()
    })
  })
  process.once('SIGTERM', () => {
    if (isStarted) file.record({ type: 'stopping', instanceId })
    stopping.abort()
    void worker.stop()
  })
  process.on('message', (order: WorkerOrder) => {
    if (order.type === 'block') block(order.seconds)
  })
  process.once('disconnect', () => process.exit())

  await startWorker(worker, stopping.signal)
  if (sabotage === 'double-run' && subscriptions[0] !== undefined) {
    await sleep(leaseSeconds)
    await runWithoutClaim({ ...tools, pool }, subscriptions[0], stopping.signal)
  }
  await stopped
  if (isStarted) file.record({ type: 'stopped', instanceId })
  process.removeAllListeners('disconnect')
  if (process.connected) process.disconnect()
}

function onEvent(event: WorkerEvent, { file, runs }: { readonly file: HistoryFile; readonly runs: RunRecorder }): void {
  if (event.type === 'started') {
    file.record({ type: 'instance_started', instanceId, incarnation: `${instanceId}/${process.pid}` })
    report({ type: 'ready' })
  }
  if (event.type === 'run_abandoned') runs.abandoned(event.subscription, event.fencingToken)
  if (event.type === 'leader_stepped_down') log(`stepped down: ${event.reason}`)
}

/** The database may be away when a process starts. */
async function startWorker(worker: CoordinatedWorker, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      return await worker.start()
    } catch (error) {
      log(`could not start: ${errorMessage(error)}`)
      await wait(START_AGAIN_MS)
    }
  }
}

/** Keeps the event loop from doing anything else. */
function block(seconds: number): void {
  for (const until = hostSeconds() + seconds; hostSeconds() < until; );
  report({ type: 'unblocked' })
}

await main()
