import type { Logger } from '@es/coordination-core'
import { ManualClock } from '@es/coordination-testing'
import { expect, it } from 'vitest'
import { safeSample } from './safe-sample.js'

it('answers 0 for a sample that throws, and reports that once, with the end of it', () => {
  const log: string[] = []
  const keep: Logger['info'] = (_fields, message) => void log.push(message)
  const logger: Logger = { debug: keep, info: keep, warn: keep, error: keep }
  let isBroken = false
  const read = (): number => {
    if (isBroken) throw new Error('no gauge')
    return 0.5
  }
  const sample = safeSample('loadFactor', read, { clock: new ManualClock(), logger, instanceId: 'a' })
  expect(sample()).toBe(0.5)
  isBroken = true
  expect([sample(), sample(), sample()]).toEqual([0, 0, 0])
  isBroken = false
  expect(sample()).toBe(0.5)
  expect(log).toEqual([
    'loadFactor(), for which 0 is sent meanwhile, fails: no gauge',
    'loadFactor(), for which 0 is sent meanwhile, works again',
  ])
})
