import type { FaultProxy } from '@es/coordination-testing'
import { FAULT_KINDS } from '../plan/fault-kinds.js'
import type { PlannedFault } from '../plan/schedule.js'
import { between, seededRandom } from '../plan/seeded-random.js'
import { endSessions } from './sessions.js'
import { pass, type Stage, waitFor, whileItLasts, withVictim } from './stage.js'

type Act = (stage: Stage, fault: PlannedFault) => Promise<void>

const LONGEST_DELAY_SECONDS = 0.2
const DELAY_CHANGES_EVERY_SECONDS = 0.1

/** Does something to the proxy of a worker, and heals it after the time of the fault. */
const throughProxy =
  (begin: (proxy: FaultProxy) => void): Act =>
  (stage, fault) =>
    withVictim(stage, fault, (slot) =>
      whileItLasts(stage, fault.name, slot, async () => {
        const proxy = proxyOf(stage, slot)
        begin(proxy)
        try {
          await pass(stage, fault.seconds)
        } finally {
          proxy.heal()
        }
      }),
    )

export const blackHole: Act = throughProxy((proxy) => proxy.blackhole())
export const requestsLost: Act = throughProxy((proxy) => proxy.blackhole('toServer'))
export const answersLost: Act = throughProxy((proxy) => proxy.blackhole('toClient'))

/** Every byte takes longer, and how much longer changes all the time. */
export const slowLink: Act = (stage, fault) =>
  withVictim(stage, fault, (slot) =>
    whileItLasts(stage, fault.name, slot, async () => {
      const proxy = proxyOf(stage, slot)
      const random = seededRandom(fault.choice * 2 ** 32)
      try {
        for (let left = fault.seconds; left > 0; left -= DELAY_CHANGES_EVERY_SECONDS) {
          proxy.delay(between(random, 0.01, LONGEST_DELAY_SECONDS))
          await pass(stage, Math.min(left, DELAY_CHANGES_EVERY_SECONDS))
        }
      } finally {
        proxy.heal()
      }
    }),
  )

export const linkDown: Act = (stage, fault) =>
  withVictim(stage, fault, (slot) =>
    whileItLasts(stage, fault.name, slot, async () => {
      const link = stage.crew.link(slot)
      await link.plug(false)
      try {
        await pass(stage, fault.seconds)
      } finally {
        await link.plug(true)
      }
    }),
  )

export const connectionsReset: Act = (stage, fault) =>
  withVictim(stage, fault, async (slot) => {
    const proxy = proxyOf(stage, slot)
    await waitFor(stage, 'connections to reset', () => proxy.counts.open)
    const { history, crew } = stage
    history.record({ type: 'fault', kind: FAULT_KINDS.connections_reset.title, instanceId: crew.member(slot).instanceId })
    proxy.cut('reset')
  })

export const sessionEnded: Act = (stage, fault) =>
  withVictim(stage, fault, (slot) => endSessions(stage, slot, 'session_ended', fault.choice))

export const sessionsEnded: Act = (stage, fault) =>
  withVictim(stage, fault, (slot) => endSessions(stage, slot, 'sessions_ended', fault.choice))

function proxyOf({ crew }: Stage, slot: number): FaultProxy {
  const { proxy } = crew.link(slot)
  if (proxy === null) throw new Error(`The worker in slot ${slot} has no proxy`)
  return proxy
}
