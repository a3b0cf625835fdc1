import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { Crew } from './crew.js'
import { openDemoDatabase, prepareTables, withClient } from './demo-database.js'
import type { DemoOptions } from './demo-options.js'
import { EventFeed } from './event-feed.js'
import { gatherEvidence } from './evidence.js'
import { hostSeconds } from './host-clock.js'
import { renderTable } from './live-table.js'
import { narrate } from './narrator.js'
import { SceneLog } from './scene-log.js'
import type { Screen } from './screen.js'
import { plannedPhases, playScenes, WORKERS } from './story.js'
import { type Summary, summarize } from './summary.js'
import { renderTimeline } from './timeline/timeline-page.js'
import { type Findings, judge } from './verdict.js'
import { describeVerdict } from './verdict-text.js'
import { SUBSCRIPTIONS } from './worker/projections.js'

const REDRAW_EVERY_MS = 100
const PATIENCE_SECONDS = 30
const SECONDS_OF_EVENTS_AT_THE_START = 5

/**
 * The demo: twelve projections shared by up to four processes while everything goes wrong, one fault after the other, and a verdict from the
 * database and the processes' own reports.
 *
 * @throws the signal's reason when it aborts; Error when a worker ends unasked, or when the work stands still.
 */
export async function runDemo(options: DemoOptions, screen: Screen, signal: AbortSignal): Promise<Summary> {
  const startedAt = hostSeconds()
  const seconds = (): number => hostSeconds() - startedAt
  const say = (text: string): void => screen.line(`${seconds().toFixed(2).padStart(6)} s  ${text}`)

  say(process.env.DATABASE_URL ? 'Taking the server of DATABASE_URL' : 'Starting a PostgreSQL server')
  await using database = await openDemoDatabase()
  signal.throwIfAborted()
  const { url, schema, restart } = database
  await prepareTables(url, { events: options.eventsPerSecond * SECONDS_OF_EVENTS_AT_THE_START, subscriptions: SUBSCRIPTIONS })
  say(`${SUBSCRIPTIONS.length} projections will read one log of order events, which grows by ${options.eventsPerSecond} a second`)

  const log = new SceneLog()
  const { eventsPerSecond, leaseSeconds, batch, workMs, isVerbose, sabotage } = options
  await using feed = new EventFeed(url, { eventsPerSecond })
  await using crew = new Crew({
    settingsOf: (worker) => ({
      ...{ worker, url, namespace: schema, leaseSeconds, batch, workMs, isVerbose },
      // One usurper is enough.
      sabotage: sabotage === 'usurp' && worker !== WORKERS[0] ? null : sabotage,
    }),
    onReport: narrate(say),
    onOutput: (worker, line) => say(`${worker} writes: ${line}`),
    onEnd: (worker, { status, signal: by }) => {
      log.mark({ kind: 'ended', at: hostSeconds(), worker })
      say(`${worker} has ended, ${by ?? `status ${status}`}`)
    },
    signal,
    patienceSeconds: PATIENCE_SECONDS,
  })
  let logEnd = 0
  const draw = (): void => screen.table(renderTable({ crew, subscriptions: SUBSCRIPTIONS, workers: WORKERS, logEnd, seconds: seconds() }))
  const drawing = setInterval(draw, REDRAW_EVERY_MS)
  try {
    await playScenes({ crew, log, database, options, subscriptions: SUBSCRIPTIONS, say })
    say('--- the end of the log')
    log.begin('finish', { title: 'the end of the log', gapLimitSeconds: options.tolerance, fewestStarts: 0 })
    logEnd = await feed.finish()
    say(`The log ends at event ${logEnd.toLocaleString('en-US')}`)
    await crew.until('the end of the log', () => SUBSCRIPTIONS.every((subscription) => crew.positionOf(subscription) >= logEnd))
    draw()
    log.end()
    await crew.terminate(...crew.members)
  } finally {
    clearInterval(drawing)
  }
  screen.table([])
  say('All workers have left; counting')

  const evidence = await withClient(url, gatherEvidence)
  const { runs, terms } = crew.history
  const findings: Findings = { evidence, runs, terms, phases: log.phases, planned: plannedPhases(options, restart !== null) }
  const verdict = judge(findings)
  for (const line of describeVerdict(findings, verdict)) screen.line(line)

  const timeline = resolve(options.timeline ?? join(tmpdir(), `coordination-demo-${schema.slice(-8)}.html`))
  await writeFile(
    timeline,
    renderTimeline({
      ...findings,
      verdict,
      marks: log.marks,
      startedAt,
      endedAt: hostSeconds(),
      workers: WORKERS,
      subscriptions: SUBSCRIPTIONS,
      leaseSeconds,
    }),
  )
  screen.line(`Timeline: ${timeline}`)
  return summarize({ findings, verdict, timeline, seconds: seconds() })
}
