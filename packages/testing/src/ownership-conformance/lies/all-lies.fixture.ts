import { claimLies } from './claim-lies.fixture.js'
import { closingLies } from './closing-lies.fixture.js'
import { concurrencyLies } from './concurrency-lies.fixture.js'
import { leaseLies } from './lease-lies.fixture.js'
import type { Lie } from './lie.fixture.js'
import { observationLies } from './observation-lies.fixture.js'
import { outageLies } from './outage-lies.fixture.js'
import { outsideLossLies } from './outside-loss-lies.fixture.js'
import { releaseLies } from './release-lies.fixture.js'
import { signalLies } from './signal-lies.fixture.js'
import { tokenLies } from './token-lies.fixture.js'

export const lies: readonly Lie[] = [
  ...claimLies,
  ...tokenLies,
  ...releaseLies,
  ...observationLies,
  ...concurrencyLies,
  ...signalLies,
  ...outsideLossLies,
  ...outageLies,
  ...leaseLies,
  ...closingLies,
]
