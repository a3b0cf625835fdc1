import { sleep } from '@es/coordination-core'
import { until } from '@es/coordination-testing'
import type { ClientBase } from 'pg'
import type { ChaosOptions } from './chaos-options.js'
import { ChildProgram } from './cluster/child-program.js'
import { Crew } from './cluster/crew.js'
import { Janitor } from './cluster/janitor.js'
import { Links } from './cluster/open-links.js'
import { SlotReservations } from './cluster/slot-reservations.js'
import { clusterSettings, recoveryBounds } from './cluster-settings.js'
import { performBurst } from './faults/perform-burst.js'
import type { Stage } from './faults/stage.js'
import type { FeedSettings } from './feed/feed-settings.js'
import { HistoryFile } from './history-file.js'
import type { RunOutcome } from './judge/describe-run.js'
import { figuresOf } from './judge/figures.js'
import { wallClockOffset } from './judge/host-wall-clock.js'
import { readFindings } from './judge/read-findings.js'
import type { RunFolder } from './judge/run-folder.js'
import { judge } from './judge/verdict.js'
import { countFaults, formatSchedule, planSchedule, type Schedule, SLOTS } from './plan/schedule.js'
import { openStore, withClient } from './store.js'

const SUBSCRIPTIONS: readonly string[] = ['orders', 'invoices', 'shipments', 'returns', 'payments', 'stock', 'customers', 'mails']

const SHARED_WITHIN_SECONDS = 60
const DRAIN_WITHIN_SECONDS = 60

/** What a run is told. */
export interface ChaosRun {
  readonly options: ChaosOptions
  readonly folder: RunFolder
  readonly say: (text: string) => void
  readonly signal: AbortSignal
}

/**
 * Workers as processes over a real server, faults at random, and the verdict.
 *
 * @throws the signal's reason when it aborts; Error when a worker ends by itself or does not leave, or the work does not come to its end.
 */
export async function runChaos({ options, folder, say, signal: interrupted }: ChaosRun): Promise<RunOutcome> {
  const cluster = clusterSettings(options.leaseSeconds)
  const bounds = recoveryBounds(cluster)
  const schedule = planSchedule({ ...options, settings: cluster })
  for (const line of formatSchedule(schedule)) say(line)

  const broken = new AbortController()
  const signal = AbortSignal.any([interrupted, broken.signal])
  const onSurprise = (what: string): void => broken.abort(new Error(what))

  await using janitor = new Janitor()
  await using store = await openStore(SUBSCRIPTIONS)
  signal.throwIfAborted()
  const serverVersion = await withClient(store.adminUrl, readServerVersion)
  const offset = await wallClockOffset(store.adminUrl)
  await using links = new Links()
  await links.open(store, janitor, say)
  using history = new HistoryFile(folder.path('faults.jsonl'))
  await using crew = new Crew({
    ...{ links: links.all, cluster, subscriptions: SUBSCRIPTIONS, sabotage: options.sabotage },
    ...{ folder: folder.root, history, janitor, signal, onSurprise },
  })
  const { acknowledgements } = folder
  await using feed = new ChildProgram({
    ...{ program: 'feed-process', log: folder.path('feed.log'), janitor, onSurprise },
    settings: { connection: store.url, eventsPerSecond: options.eventsPerSecond, acknowledgements } satisfies FeedSettings,
  })

  await startWorkers(crew, signal)
  say(`${SLOTS.length} workers share ${SUBSCRIPTIONS.length} subscriptions`)
  await torment({ crew, reservations: new SlotReservations(signal), store, history, signal }, schedule, say)
  say('No more faults; the feed ends, and the workers come to the end of the log')
  feed.signal('SIGTERM')
  await feed.ended
  await untilDrained(store.adminUrl, signal)
  await Promise.all(crew.slots.map((slot) => crew.terminate(slot)))
  history.record({ type: 'end' })

  const wallClockStepSeconds = (await wallClockOffset(store.adminUrl)) - offset
  const { events, evidence } = await withClient(store.adminUrl, (client) => readFindings(client, folder, offset))
  const verdict = judge({ history: events, subscriptions: SUBSCRIPTIONS, evidence, bounds, wallClockStepSeconds })
  const figures = figuresOf({ verdict, evidence, faults: countFaults(schedule), restarts: crew.starts - SLOTS.length })
  return { verdict, bounds, figures, serverVersion }
}

/** Resolves when every subscription has an owner. */
async function startWorkers(crew: Crew, signal: AbortSignal): Promise<void> {
  for (const slot of crew.slots) crew.start(slot)
  for (const slot of crew.slots) await crew.ready(slot)
  const isShared = (): boolean => signal.aborted || crew.owned === SUBSCRIPTIONS.length
  await until(isShared, { what: 'all subscriptions to have an owner', withinSeconds: SHARED_WITHIN_SECONDS })
  signal.throwIfAborted()
}

/** Does all that is planned. @throws whatever a fault that could not be done threw: a run without it would prove less than it says. */
async function torment(stage: Stage, { bursts }: Schedule, say: ChaosRun['say']): Promise<void> {
  for (const [index, burst] of bursts.entries()) {
    say(`burst ${index + 1} of ${bursts.length}: ${burst.faults.map(({ name }) => name).join(', ')}`)
    await performBurst(stage, burst)
    await sleep(burst.calmSeconds, { signal: stage.signal })
  }
}

async function readServerVersion(client: ClientBase): Promise<string> {
  const { rows } = await client.query<{ server_version: string }>('SHOW server_version')
  return rows[0]?.server_version ?? 'unknown'
}

const BEHIND = 'SELECT count(*)::int AS behind FROM projections WHERE position < (SELECT coalesce(max(position), 0) FROM events)'

async function untilDrained(url: string, signal: AbortSignal): Promise<void> {
  await until(
    async () => signal.aborted || (await withClient(url, (client) => client.query<{ behind: number }>(BEHIND))).rows[0]?.behind === 0,
    { what: 'all subscriptions to come to the end of the log', withinSeconds: DRAIN_WITHIN_SECONDS, everySeconds: 0.2 },
  )
  signal.throwIfAborted()
}
