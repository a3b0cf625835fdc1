import { expect, it } from 'vitest'
import { limitedLogger } from './limited-logger.js'
import { ManualClock, RecordingLogger } from './manual-clock.test.harness.js'

it('passes on a few lines of each message a minute, and then says how many it left out', () => {
  const clock = new ManualClock()
  const lines = new RecordingLogger()
  const logger = limitedLogger({ clock, logger: lines, linesPerMinute: 2 })
  for (let n = 0; n < 5; n++) logger.info({ n }, 'often')
  logger.warn({ n: 0 }, 'rare')
  clock.seconds = 59.9
  logger.info({ n: 5 }, 'often')
  clock.seconds = 60
  for (let n = 6; n < 9; n++) logger.info({ n }, 'often')
  logger.warn({ n: 1 }, 'rare')
  expect(lines.lines.map(({ level, message, fields }) => [level, message, fields])).toEqual([
    ['info', 'often', { n: 0 }],
    ['info', 'often', { n: 1 }],
    ['warn', 'rare', { n: 0 }],
    ['info', 'often', { n: 6, omitted: 4 }],
    ['info', 'often', { n: 7 }],
    ['warn', 'rare', { n: 1 }],
  ])
})
