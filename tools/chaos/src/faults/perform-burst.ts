import type { FaultName } from '../plan/fault-kinds.js'
import type { Burst, PlannedFault } from '../plan/schedule.js'
import { answersLost, blackHole, connectionsReset, linkDown, requestsLost, sessionEnded, sessionsEnded, slowLink } from './link-faults.js'
import { block, kill, pause, pauseThenKill, rollingRestart } from './process-faults.js'
import { exhaustConnections, halt, restart } from './server-faults.js'
import { pass, type Stage } from './stage.js'

const ACTS: Readonly<Record<FaultName, (stage: Stage, fault: PlannedFault) => Promise<void>>> = {
  kill,
  kill_and_rename: kill,
  pause_below_lease: pause,
  pause_above_lease: pause,
  pause_then_kill: pauseThenKill,
  block,
  black_hole: blackHole,
  requests_lost: requestsLost,
  answers_lost: answersLost,
  slow_link: slowLink,
  link_down: linkDown,
  connections_reset: connectionsReset,
  session_ended: sessionEnded,
  sessions_ended: sessionsEnded,
  restart_fast: restart('fast'),
  restart_immediate: restart('immediate'),
  halt,
  connections_exhausted: exhaustConnections,
  rolling_restart: rollingRestart,
}

/**
 * Does what is planned, all at their times, and resolves when all of it is over and the workers take part again.
 *
 * @throws what the first fault that could not be done threw, once the others are over.
 */
export async function performBurst(stage: Stage, { faults }: Burst): Promise<void> {
  const outcomes = await Promise.allSettled(
    faults.map(async (fault) => {
      await pass(stage, fault.afterSeconds)
      await ACTS[fault.name](stage, fault)
    }),
  )
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
}
