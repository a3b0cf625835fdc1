import { expect, it } from 'vitest'
import { expectAll, expectHits, exploreAsSoak } from './exploration.test.harness.js'

it('a bus that repeats and reorders does not break a cluster without claims', { timeout: 300_000 }, async () => {
  const figures = await exploreAsSoak(['--family', 'repeating_bus', '--seeds', '200'])
  expectAll(figures, ['start', 'stop', 'restart', 'crash', 'jump_clock', 'end_session', 'misbehave', 'bad_network'])
  expectHits(figures, ['stop', 'restart', 'crash', 'end_session'])
  expect(figures.steps.has('pause'), 'what nobody promises').toBe(false)
})

it('a bus that cuts instances off does not break a cluster without claims', { timeout: 300_000 }, async () => {
  const figures = await exploreAsSoak(['--family', 'cut_bus', '--seeds', '200'])
  expectAll(figures, ['start', 'stop', 'restart', 'crash', 'jump_clock', 'end_session', 'misbehave', 'cut_bus'])
  expectHits(figures, ['stop', 'restart', 'crash', 'cut_bus'])
})
