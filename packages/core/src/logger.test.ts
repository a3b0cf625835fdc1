import { afterEach, describe, expect, it, vi } from 'vitest'
import { consoleLogger, safeLogger } from './logger.js'

afterEach(() => {
  vi.restoreAllMocks()
})

describe('consoleLogger', () => {
  it('prints warnings and errors, and nothing else', () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
    const error = vi.spyOn(console, 'error').mockImplementation(() => {})
    const log = vi.spyOn(console, 'log').mockImplementation(() => {})
    for (const level of ['debug', 'info', 'warn', 'error'] as const) consoleLogger[level]({ n: 1 }, level)
    expect(warn.mock.calls).toEqual([['[coordination] warn', { n: 1 }]])
    expect(error.mock.calls).toEqual([['[coordination] error', { n: 1 }]])
    expect(log).not.toHaveBeenCalled()
  })
})

describe('safeLogger', () => {
  it('passes every line on, as a method of the logger', () => {
    class Own {
      lines: unknown[] = []
      debug(...line: unknown[]): void {
        this.lines.push(line)
      }
      info = this.debug
      warn = this.debug
      error = this.debug
    }
    const own = new Own()
    for (const level of ['debug', 'info', 'warn', 'error'] as const) safeLogger(own)[level]({ level }, 'x')
    expect(own.lines).toHaveLength(4)
  })

  it('shows what it was told and the failure on the console when the logger throws', () => {
    const error = vi.spyOn(console, 'error').mockImplementation(() => {})
    const failure = new Error('disk full')
    const throwing = (): void => {
      throw failure
    }
    safeLogger({ debug: throwing, info: throwing, warn: throwing, error: throwing }).info({ n: 1 }, 'hello')
    expect(error.mock.calls).toEqual([['[coordination] The logger threw while reporting: hello', { error: failure, fields: { n: 1 } }]])
  })
})
