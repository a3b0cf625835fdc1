import type { Clock } from './clock.js'
import type { LogFields, Logger } from './logger.js'

/** A clock whose wall and monotonic time the test sets; it runs no timers. */
export class ManualClock implements Clock {
  seconds = 0
  /** What the wall clock is off by. */
  wallOffsetSeconds = 0

  now(): Date {
    return at(this.seconds + this.wallOffsetSeconds)
  }

  monotonicSeconds(): number {
    return this.seconds
  }

  setTimer(): never {
    throw new Error('The code under test must not set timers')
  }
}

/** The instant `seconds` after the tests' epoch. */
export function at(seconds: number): Date {
  return new Date(Date.UTC(2026, 2, 1, 12) + seconds * 1000)
}

export interface LogLine {
  readonly level: keyof Logger
  readonly fields: LogFields
  readonly message: string
}

/** A logger that keeps its lines. */
export class RecordingLogger implements Logger {
  readonly lines: LogLine[] = []
  debug = this.#keep('debug')
  info = this.#keep('info')
  warn = this.#keep('warn')
  error = this.#keep('error')

  /** The messages of one level. */
  messages(level: keyof Logger): string[] {
    return this.lines.filter((line) => line.level === level).map((line) => line.message)
  }

  #keep(level: keyof Logger) {
    return (fields: LogFields, message: string): void => {
      this.lines.push({ level, fields, message })
    }
  }
}
