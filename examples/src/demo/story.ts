import type { Crew, Member } from './crew.js'
import type { DemoDatabase } from './demo-database.js'
import type { DemoOptions } from './demo-options.js'
import { hostSeconds } from './host-clock.js'
import { fairShare, fewestMovesOnJoin, type PhaseKind, type SceneName } from './scene.js'
import type { SceneLog } from './scene-log.js'

/** What the story is played with. */
export interface Stage {
  readonly crew: Crew
  readonly log: SceneLog
  readonly database: Pick<DemoDatabase, 'restart'>
  readonly options: DemoOptions
  readonly subscriptions: readonly string[]
  readonly say: (text: string) => void
}

export const WORKERS: readonly string[] = ['worker-1', 'worker-2', 'worker-3', 'worker-4']

/** Longest gap when nobody has failed and work is only moved. */
const MOVE_LIMIT_SECONDS = 1
const KILL_LIMIT_SECONDS = 3

/** The phases that a run with `options` has. */
export function plannedPhases({ scenes }: DemoOptions, canRestart: boolean): readonly PhaseKind[] {
  const phases: Readonly<Record<SceneName, readonly PhaseKind[]>> = {
    scale: ['scale'],
    kill: ['kill', 'comeback'],
    pause: ['pause', 'wake'],
    rolling: ['rolling'],
    database: canRestart ? ['database'] : [],
  }
  return ['start', ...scenes.flatMap((scene) => phases[scene]), 'finish']
}

/** Plays the scenes one after the other; each begins when the work is shared evenly again. */
export async function playScenes(stage: Stage): Promise<void> {
  const { options, crew } = stage
  const play: Readonly<Record<SceneName, (stage: Stage) => Promise<void>>> = {
    scale: scaleOut,
    kill: killLeader,
    pause: pauseLeader,
    rolling: restartOneByOne,
    database: restartDatabase,
  }
  await startFirst(stage)
  for (const scene of options.scenes) {
    await crew.calm(options.calmSeconds)
    await play[scene](stage)
  }
  await crew.calm(options.calmSeconds)
}

async function startFirst(stage: Stage): Promise<void> {
  const { options, subscriptions } = stage
  const first = options.scenes.includes('scale') ? WORKERS.slice(0, 2) : WORKERS
  begin(stage, 'start', `${first.length} workers start`, { limit: MOVE_LIMIT_SECONDS, fewestStarts: subscriptions.length })
  for (const worker of first) start(stage, worker)
  await untilShared(stage)
}

async function scaleOut(stage: Stage): Promise<void> {
  const [before, joining] = [WORKERS.slice(0, 2).length, WORKERS.slice(2).length]
  const fewestStarts = fewestMovesOnJoin(stage.subscriptions.length, { before, joining })
  begin(stage, 'scale', 'two more workers', { limit: MOVE_LIMIT_SECONDS, fewestStarts })
  for (const worker of WORKERS.slice(2)) start(stage, worker)
  await untilShared(stage)
}

async function killLeader(stage: Stage): Promise<void> {
  const { crew, log, options } = stage
  const victim = await crew.until('a leader in the middle of a transaction', () => {
    const { leader } = crew
    return leader && leader.applying.size > 0 && held(crew, leader) > 0 ? leader : null
  })
  const { worker, pid } = victim.process
  const lost = held(crew, victim)
  const at = crew.kill(victim)
  begin(stage, 'kill', 'the leader is killed', { limit: KILL_LIMIT_SECONDS, fewestStarts: lost }, at)
  log.mark({ kind: 'killed', at, worker })
  stage.say(`SIGKILL for ${worker} (process ${pid}), the leader, with ${victim.applying.size} transactions open`)
  await untilOwned(stage)
  await crew.calm(options.calmSeconds / 2)

  beginReturn(stage, 'comeback', `${worker} starts again`)
  start(stage, worker)
  await untilShared(stage)
}

async function pauseLeader(stage: Stage): Promise<void> {
  const { crew, log, options } = stage
  const victim = await crew.until('a leader', () => (crew.leader && held(crew, crew.leader) > 0 ? crew.leader : null))
  const { worker, pid } = victim.process
  const lost = held(crew, victim)
  const at = crew.pause(victim)
  begin(stage, 'pause', 'the leader is stopped', { limit: options.leaseSeconds + 2, fewestStarts: lost }, at)
  stage.say(`SIGSTOP for ${worker} (process ${pid}), the leader: it stands still, and its connections stay open`)
  await untilOwned(stage)
  // Until well behind the lease, so that the one that wakes is certainly stale.
  await crew.calm(Math.max(options.calmSeconds / 2, options.leaseSeconds + 1 - (hostSeconds() - at)))

  beginReturn(stage, 'wake', `${worker} wakes`)
  const woken = crew.wake(victim)
  log.mark({ kind: 'paused', at, worker, until: woken })
  log.mark({ kind: 'woken', at: woken, worker })
  stage.say(`SIGCONT for ${worker} after ${(woken - at).toFixed(1)} s`)
  await untilShared(stage)
}

async function restartOneByOne(stage: Stage): Promise<void> {
  const { crew, log, subscriptions } = stage
  begin(stage, 'rolling', 'rolling restart', { limit: MOVE_LIMIT_SECONDS, fewestStarts: 0 })
  let fewestStarts = 0
  for (const worker of WORKERS) {
    const member = requireMember(crew, worker)
    fewestStarts += held(crew, member) + fairShare(subscriptions.length, WORKERS.length)
    log.amend({ fewestStarts })
    log.mark({ kind: 'terminated', at: hostSeconds(), worker })
    stage.say(`SIGTERM for ${worker}${member.isLeader ? ', the leader' : ''}`)
    await crew.terminate(member)
    await untilOwned(stage)
    start(stage, worker)
    await untilShared(stage)
  }
}

async function restartDatabase(stage: Stage): Promise<void> {
  const { database, log, options, subscriptions, crew } = stage
  if (database.restart === null) return stage.say('The server of DATABASE_URL is not restarted: it may have other users')
  const at = hostSeconds()
  begin(stage, 'database', 'the database restarts', { limit: Number.POSITIVE_INFINITY, fewestStarts: subscriptions.length }, at)
  stage.say('The database server restarts: all connections are cut, all locks forgotten')
  await database.restart()
  const until = hostSeconds()
  log.mark({ kind: 'database', at, worker: null, until })
  log.amend({ gapLimitSeconds: (until - at + options.leaseSeconds + 3) * options.tolerance })
  stage.say(
    `It is back after ${(until - at).toFixed(1)} s; nothing is claimed until it has been up for a lease (${options.leaseSeconds} s)`,
  )
  await crew.until('claims that are lost', () => subscriptions.every((subscription) => !isOwnedSince(crew, subscription, at)))
  await untilShared(stage)
}

function begin(
  { log, options, say }: Stage,
  kind: PhaseKind,
  title: string,
  { limit, fewestStarts }: { readonly limit: number; readonly fewestStarts: number },
  at = hostSeconds(),
): void {
  say(`--- ${title}`)
  log.begin(kind, { title, gapLimitSeconds: limit * options.tolerance, fewestStarts }, at)
}

/** One worker comes back to the others, who have shared its work. */
function beginReturn(stage: Stage, kind: PhaseKind, title: string): void {
  begin(stage, kind, title, { limit: MOVE_LIMIT_SECONDS, fewestStarts: fairShare(stage.subscriptions.length, WORKERS.length) })
}

function start({ crew, log, say }: Stage, worker: string): void {
  const { pid, startedAt } = crew.start(worker)
  log.mark({ kind: 'started', at: startedAt, worker })
  say(`${worker} starts, process ${pid}`)
}

/** Waits until somebody runs each subscription. */
async function untilOwned({ crew, subscriptions, say }: Stage): Promise<void> {
  await crew.until('an owner of each subscription', () => subscriptions.every((subscription) => crew.ownerOf(subscription) !== null))
  say(`All ${subscriptions.length} subscriptions have an owner again`)
}

/** Waits until all workers that are there run as many subscriptions as any other, give or take one. */
async function untilShared({ crew, subscriptions, say }: Stage): Promise<void> {
  await crew.until('work that is shared evenly', () => {
    const present = crew.members.filter(({ state }) => state === 'running' || state === 'starting')
    const counts = present.map((member) => held(crew, member))
    return counts.reduce((sum, count) => sum + count, 0) === subscriptions.length && Math.max(...counts) - Math.min(...counts) <= 1
  })
  for (const { process } of crew.members) {
    const own = subscriptions.filter((subscription) => crew.ownerOf(subscription)?.process === process)
    say(`  ${process.worker} runs ${own.join(', ')}`)
  }
}

/** How many subscriptions a worker runs. */
function held(crew: Crew, { process }: Member): number {
  return crew.history.openRuns.filter(({ pid }) => pid === process.pid).length
}

function isOwnedSince(crew: Crew, subscription: string, at: number): boolean {
  return crew.history.openRuns.some((run) => run.subscription === subscription && run.from < at)
}

function requireMember(crew: Crew, worker: string): Member {
  const member = crew.members.find(({ process }) => process.worker === worker)
  if (!member) throw new Error(`There is no ${worker}`)
  return member
}
