import { callbackLies } from './callback-lies.fixture.js'
import { campaignLies } from './campaign-lies.fixture.js'
import { concurrencyLies } from './concurrency-lies.fixture.js'
import { currentLeaderLies } from './current-leader-lies.fixture.js'
import { fencingLies } from './fencing-lies.fixture.js'
import { hangingBackendLies } from './hanging-backend-lies.fixture.js'
import { identityLies } from './identity-lies.fixture.js'
import { leaseLies } from './lease-lies.fixture.js'
import type { Lie } from './lie.fixture.js'
import { oneLeaderLies } from './one-leader-lies.fixture.js'
import { outsideLossLies } from './outside-loss-lies.fixture.js'
import { renewalLies } from './renewal-lies.fixture.js'
import { signalLies } from './signal-lies.fixture.js'

export const lies: readonly Lie[] = [
  ...identityLies,
  ...oneLeaderLies,
  ...renewalLies,
  ...currentLeaderLies,
  ...callbackLies,
  ...concurrencyLies,
  ...signalLies,
  ...fencingLies,
  ...campaignLies,
  ...outsideLossLies,
  ...hangingBackendLies,
  ...leaseLies,
]
