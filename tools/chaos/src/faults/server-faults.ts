import type { StopMode } from '@es/test-server'
import type { PlannedFault } from '../plan/schedule.js'
import { ConnectionHog } from './connection-hog.js'
import { endSessions } from './sessions.js'
import { pass, type Stage, waitFor, whileItLasts, withVictim } from './stage.js'

type Act = (stage: Stage, fault: PlannedFault) => Promise<void>

export const restart =
  (mode: StopMode): Act =>
  (stage, { name }) =>
    whileItLasts(stage, name, null, () => stage.store.server.restart(mode))

export const halt: Act = (stage, { name, seconds, choice }) =>
  whileItLasts(stage, name, null, async () => {
    const { server } = stage.store
    await server.halt(choice < 0.5 ? 'fast' : 'immediate')
    await pass(stage, seconds)
    await server.resume()
  })

/** No connection is left, and one worker loses those that it has. */
export const exhaustConnections: Act = (stage, fault) =>
  withVictim(stage, fault, (slot) =>
    whileItLasts(stage, fault.name, null, async () => {
      await using hog = new ConnectionHog(stage.store.url)
      await waitFor(stage, 'the server to refuse a connection', () => hog.refusals)
      await endSessions(stage, slot, 'sessions_ended', fault.choice)
      await pass(stage, fault.seconds)
    }),
  )
