import { it } from 'vitest'
import { expectAll, expectHits, exploreAsSoak } from './exploration.test.harness.js'

it('no fault breaks a cluster with claims, seed 1', { timeout: 300_000 }, async () => {
  const figures = await exploreAsSoak(['--family', 'claims', '--seeds', '400', '--seed', '1'])
  expectAll(figures, ['start', 'stop', 'restart', 'crash', 'pause', 'jump_clock', 'drift', 'end_session', 'cut_bus', 'partition'])
  expectAll(figures, ['bad_network', 'bad_backend', 'restart_backend', 'misbehave'])
  expectHits(figures, ['stop', 'restart', 'crash', 'pause', 'jump_clock', 'end_session', 'cut_bus', 'bad_backend'])
})
