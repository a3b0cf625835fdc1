import { expect, it } from 'vitest'
import { RecordingLogger } from './manual-clock.test.harness.js'
import { OnceLog } from './once-log.js'

it('warns once of each kind, with what was said first', () => {
  const logger = new RecordingLogger()
  const log = new OnceLog(logger)
  log.warn('full', { size: 1 }, 'It is full')
  log.warn('full', { size: 2 }, 'It is still full')
  log.warn('late', { size: 3 }, 'It is late')
  log.warn('full', { size: 4 }, 'It is full')
  expect(logger.lines).toEqual([
    { level: 'warn', fields: { size: 1 }, message: 'It is full' },
    { level: 'warn', fields: { size: 3 }, message: 'It is late' },
  ])
})
