import { sleep } from '@es/coordination-core'
import { until } from '@es/coordination-testing'
import type { Crew } from '../cluster/crew.js'
import type { SlotReservations } from '../cluster/slot-reservations.js'
import type { HistoryFile } from '../history-file.js'
import { FAULT_KINDS, type FaultName } from '../plan/fault-kinds.js'
import { isPossibleIn, type PlannedFault, SLOTS } from '../plan/schedule.js'
import type { Store } from '../store.js'

/** What faults are done with. */
export interface Stage {
  readonly crew: Crew
  readonly reservations: SlotReservations
  readonly store: Store
  /** Where it is recorded what is done. */
  readonly history: HistoryFile
  /** Ends every fault early. */
  readonly signal: AbortSignal
}

/** Picks the worker that the fault befalls, and keeps all others off it until `work` is over. */
export function withVictim(stage: Stage, fault: PlannedFault, work: (slot: number) => Promise<void>): Promise<void> {
  const { crew, reservations, signal } = stage
  return reservations.with(
    () => preferredSlots(crew, fault),
    async (slot) => {
      await crew.ready(slot)
      signal.throwIfAborted()
      await work(slot)
    },
  )
}

function preferredSlots(crew: Crew, { name, aim, slot }: PlannedFault): readonly number[] {
  const aimedAt = { leader: crew.leaderSlot, owner: crew.ownerSlot, slot: null }[aim]
  const all = [...(aimedAt === null ? [] : [aimedAt]), slot, ...SLOTS.keys()]
  return all.filter((each) => isPossibleIn(name, SLOTS[each]?.network))
}

/** Records that the fault lasts from before `work` begins until it is over. */
export async function whileItLasts(
  { history, crew }: Stage,
  name: FaultName,
  slot: number | null,
  work: () => Promise<void>,
): Promise<void> {
  const whom = slot === null ? {} : { instanceId: crew.member(slot).instanceId }
  const kind = FAULT_KINDS[name].title
  history.record({ type: 'fault_began', kind, ...whom })
  try {
    await work()
  } finally {
    history.record({ type: 'fault_ended', kind, ...whom })
  }
}

/** Lets the fault last. @throws the reason of the stage's signal. */
export function pass({ signal }: Stage, seconds: number): Promise<void> {
  return sleep(seconds, { signal })
}

/** Waits until `condition` holds. @throws the reason of the stage's signal; Error after half a minute. */
export async function waitFor({ signal }: Stage, what: string, condition: () => unknown): Promise<void> {
  await until(() => signal.aborted || condition(), { what, withinSeconds: 30 })
  signal.throwIfAborted()
}
