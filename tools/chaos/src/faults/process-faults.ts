import type { PlannedFault } from '../plan/schedule.js'
import { pass, type Stage, whileItLasts, withVictim } from './stage.js'

type Act = (stage: Stage, fault: PlannedFault) => Promise<void>

/** How long a killed worker stays away, at most, in seconds. */
const LONGEST_ABSENCE_SECONDS = 1.5

export const kill: Act = (stage, fault) => withVictim(stage, fault, (slot) => replace(stage, fault, slot))

export const pause: Act = (stage, fault) =>
  withVictim(stage, fault, async (slot) => {
    stage.crew.pause(slot)
    await pass(stage, fault.seconds)
    stage.crew.resume(slot)
  })

export const pauseThenKill: Act = (stage, fault) =>
  withVictim(stage, fault, async (slot) => {
    stage.crew.pause(slot)
    await pass(stage, fault.seconds)
    await replace(stage, fault, slot)
  })

export const block: Act = (stage, fault) =>
  withVictim(stage, fault, (slot) => whileItLasts(stage, fault.name, slot, () => stage.crew.block(slot, fault.seconds)))

/** One after the other leaves, and comes back under its own id. */
export const rollingRestart: Act = async (stage, fault) => {
  const { crew, reservations, history } = stage
  history.record({ type: 'fault', kind: 'rolling restart' })
  for (const slot of crew.slots) {
    await reservations.with(
      () => [slot],
      async () => {
        await crew.ready(slot)
        await crew.terminate(slot)
        stage.signal.throwIfAborted()
        crew.start(slot)
        await crew.ready(slot)
      },
    )
  }
  await pass(stage, fault.seconds)
}

async function replace(stage: Stage, { name, choice }: PlannedFault, slot: number): Promise<void> {
  const { crew } = stage
  await crew.kill(slot)
  await pass(stage, choice * LONGEST_ABSENCE_SECONDS)
  crew.start(slot, { rename: name === 'kill_and_rename' })
  await crew.ready(slot)
}
