import { Crew, type Member } from './crew.js'
import { openDemoDatabase, prepareTables, withClient } from './demo-database.js'
import type { DemoOptions } from './demo-options.js'
import { type Evidence, gatherEvidence } from './evidence.js'
import { renderTable } from './live-table.js'
import type { Screen } from './screen.js'
import { type Summary, summarize } from './summary.js'
import { type Kill, type Takeover, takeoverAfter } from './term-log.js'
import { committedAfterSeconds, electedAfterSeconds, type Findings, judge, milliseconds, type Verdict } from './verdict.js'
import { ordersProjection } from './worker/orders-projection.js'
import type { WorkerReport, WorkerSettings } from './worker-messages.js'

const REDRAW_EVERY_MS = 100
const STALL_SECONDS = 30

/**
 * The story: workers compete for one projection, the leader is killed again and again, and the database says whether that did any harm.
 *
 * @throws the signal's reason when it aborts; Error when a worker ends unasked, or when the work stands still.
 */
export async function runDemo(options: DemoOptions, screen: Screen, signal: AbortSignal): Promise<Summary> {
  const { subscription } = ordersProjection
  const startedAt = performance.now()
  const seconds = (): number => (performance.now() - startedAt) / 1000
  const say = (text: string): void => screen.line(`${seconds().toFixed(2).padStart(6)} s  ${text}`)

  say(process.env.DATABASE_URL ? 'Taking the server of DATABASE_URL' : 'Starting a PostgreSQL server')
  await using database = await openDemoDatabase()
  signal.throwIfAborted()
  await prepareTables(database.url, { events: options.events, subscription })
  say(`Wrote a log of ${options.events.toLocaleString('en-US')} order events`)
  if (database.isEmbedded)
    say(`The server has just started: nobody is elected until it has been up for one lease (${options.leaseSeconds} s)`)

  await using crew = new Crew({
    settings: settingsOf(options, database),
    events: options.events,
    onReport: narrate(say),
    onOutput: (worker, line) => say(`${worker} writes: ${line}`),
    signal,
    stallSeconds: STALL_SECONDS,
  })
  crew.start()
  const draw = (): void => {
    const { members, terms, position } = crew
    screen.table(renderTable({ members, terms, position, events: options.events, seconds: seconds() }))
  }
  const drawing = setInterval(draw, REDRAW_EVERY_MS)
  try {
    for (let nr = 1; nr <= options.kills && !crew.isDone; nr++) await killAndReplaceLeader(crew, options, nr, say)
    await crew.until('the end of the log', () => crew.isDone)
    await crew.stop()
    draw()
  } finally {
    clearInterval(drawing)
  }
  screen.table([])
  say('All workers have left; counting')

  const evidence = await withClient(database.url, (client) => gatherEvidence(client, subscription))
  const { terms, kills } = crew
  const findings: Findings = { evidence, terms, kills, plannedKills: options.kills, takeoverSeconds: options.takeoverSeconds }
  const verdict = judge(findings)
  for (const line of describe(verdict, evidence)) screen.line(line)
  return summarize(findings, verdict, seconds())
}

/** Kills are spread over the work, with a part of it before the first and after the last. */
async function killAndReplaceLeader(crew: Crew, options: DemoOptions, nr: number, say: (text: string) => void): Promise<void> {
  const threshold = (options.events * nr) / (options.kills + 2)
  // In turn in the two places where a death could hurt: with a transaction open, and right after one was committed.
  const moment: WorkerReport['type'] = nr % 2 === 1 ? 'applying' : 'committed'
  const leader = await crew.until(`a leader to kill (${nr} of ${options.kills})`, () => {
    if (crew.isDone) return 'too late'
    const candidate = crew.leader
    const isTime = candidate?.lastReport?.type === moment && crew.position >= threshold
    return isTime && hasWorked(crew, candidate) && hasRival(crew) ? candidate : null
  })
  if (leader === 'too late') return
  const kill = crew.killLeader(leader)
  const where = kill.isInTransaction ? 'in the middle of a transaction' : 'right after a commit'
  say(`KILL ${nr} of ${options.kills}: SIGKILL for ${kill.worker} (process ${kill.pid}), the leader, at event ${kill.position}, ${where}`)
  const takeover = await crew.until('a successor that works', () => followed(crew, kill))
  if (takeover === 'none') return
  const from = milliseconds(electedAfterSeconds(takeover))
  say(
    `${takeover.successor?.worker} was elected ${from} after the kill, and had committed its first batch after ${milliseconds(committedAfterSeconds(takeover))}`,
  )
  crew.restart(kill.worker)
  say(`${kill.worker} starts again, as a new process`)
}

function hasWorked(crew: Crew, { process }: Member): boolean {
  return (crew.terms.findLast(({ pid }) => pid === process.pid)?.batches ?? 0) > 0
}

function hasRival(crew: Crew): boolean {
  return crew.members.some(({ state }) => state === 'waiting')
}

function followed(crew: Crew, kill: Kill): Takeover | 'none' | null {
  const takeover = takeoverAfter(kill, crew.terms)
  if (takeover.successor?.firstCommitAt) return takeover
  // Somebody did the work without having been elected.
  return crew.isDone ? 'none' : null
}

function settingsOf(
  { workers, leaseSeconds, batch, workMs, sabotage }: DemoOptions,
  { url, schema }: { url: string; schema: string },
): WorkerSettings[] {
  return Array.from({ length: workers }, (_, index) => ({
    worker: `worker-${index + 1}`,
    url,
    namespace: schema,
    leaseSeconds,
    batch,
    workMs,
    // One usurper is enough; any worker may become leader and do the other kinds of harm.
    sabotage: sabotage === 'usurp' && index > 0 ? null : sabotage,
  }))
}

function narrate(say: (text: string) => void): (worker: string, report: WorkerReport) => void {
  return (worker, report) => {
    if (report.type === 'elected') say(`${worker} leads, fencing token ${report.token}`)
    if (report.type === 'lost') say(`${worker} leads no more`)
    if (report.type === 'refused')
      say(`${worker} was refused: it came with token ${report.token}, but ${report.storedToken} has written already`)
  }
}

function describe(verdict: Verdict, evidence: Evidence): string[] {
  const width = Math.max(...verdict.checks.map(({ name }) => name.length))
  return [
    '',
    `Verdict, counted in the database (${evidence.orders.toLocaleString('en-US')} orders, ${evidence.events.toLocaleString('en-US')} events)`,
    ...verdict.checks.map(({ name, isFine, found }) => `  ${isFine ? 'ok    ' : 'FAILED'}  ${name.padEnd(width)}  ${found}`),
    ...verdict.takeovers.map(
      (takeover, index) =>
        `  takeover ${index + 1}: ${takeover.kill.worker} -> ${takeover.successor?.worker ?? 'nobody'}: elected after ${milliseconds(
          electedAfterSeconds(takeover),
        )}, first batch committed after ${milliseconds(committedAfterSeconds(takeover))}`,
    ),
    verdict.holds ? 'The verdict holds.' : 'THE VERDICT DOES NOT HOLD.',
    '',
  ]
}
