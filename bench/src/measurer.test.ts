import { expect, it } from 'vitest'
import type { Benchmark } from './benchmark.js'
import { Measurer } from './measurer.js'

const group = (name: string) => ({
  name,
  benchmarks: [
    { name: 'row', what: '', beside: '', targets: [], run: () => Promise.reject(new Error('Nobody runs it')) } satisfies Benchmark,
  ],
})

it('begins nothing once it is interrupted', async () => {
  const measurer = new Measurer({ server: null, signal: AbortSignal.abort('SIGINT'), told: () => {} })
  await expect(measurer.measure([group('messages')])).rejects.toBe('SIGINT')
  expect(measurer.results([group('messages')])).toEqual([])
})
