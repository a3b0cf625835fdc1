import { expectTypeOf, test } from 'vitest'
import { isLeaderElector, type LeaderElector } from './leader-elector.js'
import type { Logger } from './logger.js'

test('the guard narrows to the contract', () => {
  const value: unknown = {}
  if (isLeaderElector(value)) expectTypeOf(value).toEqualTypeOf<LeaderElector>()
})

test('a logger with more levels and looser methods, such as one of pino, is a logger', () => {
  interface LooserLogger {
    trace(fields: object, message?: string, ...values: unknown[]): void
    debug(fields: object, message?: string, ...values: unknown[]): void
    info(fields: object, message?: string, ...values: unknown[]): void
    warn(fields: object, message?: string, ...values: unknown[]): void
    error(fields: object, message?: string, ...values: unknown[]): void
  }
  expectTypeOf<LooserLogger>().toExtend<Logger>()
})
