import type { CampaigningLeaderElector, FencedLeaderElector } from '@es/coordination-core'
import {
  type CreateInstance,
  type FaultFamily,
  lockServerBackend,
  type SimulationOptions,
  type Surroundings,
} from '@es/coordination-testing'
import { createWorker } from '../worker-instance.js'
import { AlteredOwnership, withOneToken, withoutLoss } from './altered-ownership.js'
import { misreadMessages, withoutEpochs, withoutNewLives, withoutSequences } from './misread-messages.js'
import { StubbornElector } from './stubborn-elector.js'
import { UnaskedOwnership } from './unasked-ownership.js'
import { wrongBackend } from './wrong-backend.js'

/** A mistake that a cluster is made with on purpose, to see that it is found. */
export interface DeliberateFault {
  readonly name: string
  /** What makes the cluster wrong. */
  readonly options: Partial<SimulationOptions>
  /** The kind of cluster in which it does harm. */
  readonly family: FaultFamily
  /** What the simulator must say. */
  readonly breaks: RegExp
}

type Elector = FencedLeaderElector & CampaigningLeaderElector

export const DELIBERATE_FAULTS: readonly DeliberateFault[] = [
  {
    name: 'leadership trusted past its deadline',
    family: 'claims',
    breaks: /H1 two_leaders/,
    options: {
      createBackend: wrongBackend((place, connect) => {
        // It does not say how long it trusts either: that there are two leaders must be found without.
        const adapters = connect({ ...place, trusted() {} })
        const { clock, logger } = place
        return { ...adapters, elector: new StubbornElector(adapters.elector as Elector, { clock, logger, believesOnForSeconds: 2 }) }
      }),
    },
  },
  {
    name: 'renewal that locks again',
    family: 'claims',
    breaks: /is not whole: (\w+ runs nowhere|nobody leads|the work is not balanced)/,
    options: { createBackend: lockServerBackend({ check: (session, held) => session.tryLock(held).locked }) },
  },
  {
    name: 'old epoch accepted',
    family: 'claims',
    breaks: /which the newest assignment that it heard, of epoch \d+, does not give it/,
    options: { createInstance: wrongInstance(({ transport }) => ({ transport: misreadMessages(transport, withoutEpochs()) })) },
  },
  {
    name: 'claim skipped',
    family: 'claims',
    breaks: /H2 two_owners/,
    options: {
      createBackend: (options) => {
        let token = 0n
        return wrongBackend((place, connect) => ({
          ...connect(place),
          ownership: new UnaskedOwnership(place.instanceId, () => ++token),
        }))(options)
      },
    },
  },
  {
    name: 'late heartbeat wins',
    family: 'repeating_bus',
    breaks: /believes a heartbeat of \w+ at \S+ s that a later one had overtaken/,
    options: { createInstance: wrongInstance(({ transport }) => ({ transport: misreadMessages(transport, withoutSequences()) })) },
  },
  {
    name: 'shutdown notice never cleared',
    family: 'claims',
    breaks: /takes \w+ for leaving at \S+ s, when a new life of it is first heard/,
    options: {
      createInstance: wrongInstance(({ transport, instanceId }) => ({
        transport: misreadMessages(transport, withoutNewLives(instanceId)),
      })),
    },
  },
  {
    name: 'token given out again',
    family: 'claims',
    breaks: /H4 token_not_growing/,
    options: {
      createBackend: wrongBackend((place, connect) => {
        const adapters = connect(place)
        return { ...adapters, ...(adapters.ownership && { ownership: new AlteredOwnership(adapters.ownership, withOneToken) }) }
      }),
    },
  },
  {
    name: 'lost claim not told to the run',
    family: 'claims',
    breaks: /H14 impossible/,
    options: {
      createInstance: wrongInstance(({ ownership }) => (ownership ? { ownership: new AlteredOwnership(ownership, withoutLoss) } : {})),
    },
  },
  {
    name: 'run not told that nothing may be written',
    family: 'claims',
    breaks: /its signal `lost` has not aborted/,
    options: {
      createInstance: wrongInstance(({ run }) => ({
        run: (name, context) => run(name, { ...context, lost: new AbortController().signal }),
      })),
    },
  },
  {
    name: 'run not given its token',
    family: 'claims',
    breaks: /H14 impossible/,
    options: { createInstance: wrongInstance(({ run }) => ({ run: (name, context) => run(name, { ...context, fencingToken: null }) })) },
  },
]

/** A worker in surroundings of which some are wrong. */
function wrongInstance(spoil: (surroundings: Surroundings) => Partial<Surroundings>): CreateInstance {
  return (surroundings) => createWorker({ ...surroundings, ...spoil(surroundings) })
}
