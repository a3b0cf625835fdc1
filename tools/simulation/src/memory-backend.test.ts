import { it } from 'vitest'
import { expectAll, expectHits, exploreAsSoak } from './exploration.test.harness.js'

it('no fault breaks a cluster on the in-memory adapters, which know nothing of the simulation', { timeout: 300_000 }, async () => {
  const figures = await exploreAsSoak(['--backend', 'memory', '--family', 'claims', '--seeds', '200', '--seed', '7'])
  expectAll(figures, ['start', 'stop', 'restart', 'crash', 'pause', 'end_session', 'cut_bus', 'partition', 'bad_network', 'bad_backend'])
  expectHits(figures, ['stop', 'restart', 'crash', 'pause', 'bad_backend'])
})
