import { expect, it } from 'vitest'
import { FailureLog } from './failure-log.js'
import { ManualClock, RecordingLogger } from './manual-clock.test.harness.js'

function setUp(summaryEverySeconds?: number) {
  const clock = new ManualClock()
  const logger = new RecordingLogger()
  const log = new FailureLog({
    ...{ what: 'Asking', clock, logger, fields: { id: 'a' } },
    ...(summaryEverySeconds === undefined ? {} : { summaryEverySeconds }),
  })
  const failedAt = (seconds: number, error: unknown): void => {
    clock.seconds = seconds
    log.failed(error)
  }
  const lines = (): unknown[] => logger.lines.map(({ level, message, fields: { error, ...fields } }) => [level, message, fields])
  return { clock, logger, log, failedAt, lines }
}

it('reports the beginning of an outage, a changed error, and the end, with counts', () => {
  const { clock, log, failedAt, lines } = setUp()
  failedAt(1, new Error('refused'))
  failedAt(2, new Error('refused'))
  failedAt(3, new Error('timed out'))
  failedAt(4, 'timed out')
  clock.seconds = 6
  log.succeeded()
  expect(lines()).toEqual([
    ['warn', 'Asking fails: refused', { id: 'a', failures: 1, failingForSeconds: 0 }],
    ['warn', 'Asking fails: timed out', { id: 'a', failures: 3, failingForSeconds: 2 }],
    ['info', 'Asking works again', { id: 'a', failures: 4, failedForSeconds: 5 }],
  ])
})

it.each([
  ['30 s', undefined, 30],
  ['as long as it was told', 5, 5],
])('sums a long outage up every %s', (_what, summaryEverySeconds, expected) => {
  const { failedAt, logger } = setUp(summaryEverySeconds)
  for (let second = 0; second < 4 * expected; second++) failedAt(second, new Error('refused'))
  expect(logger.lines.map(({ fields }) => fields.failingForSeconds)).toEqual([0, expected, 2 * expected, 3 * expected])
})

it('passes the error on as it is', () => {
  const { failedAt, logger } = setUp()
  const error = new Error('refused', { cause: new Error('below') })
  failedAt(0, error)
  expect(logger.lines[0]?.fields.error).toBe(error)
})

it('says nothing of a success that follows a success, and begins anew with the next outage', () => {
  const { log, logger, failedAt, lines } = setUp()
  log.succeeded()
  expect(lines()).toEqual([])
  failedAt(1, new Error('refused'))
  log.succeeded()
  log.succeeded()
  failedAt(2, new Error('refused'))
  expect(logger.lines.map(({ level }) => level)).toEqual(['warn', 'info', 'warn'])
  expect(lines().at(-1)).toEqual(['warn', 'Asking fails: refused', { id: 'a', failures: 1, failingForSeconds: 0 }])
})
