import type { LogFields, Logger } from '@es/coordination-core'

export interface LogLine {
  readonly level: keyof Logger
  readonly message: string
  readonly fields: LogFields
}

/** A logger that keeps what it is told. */
export class RecordingLogger implements Logger {
  readonly lines: LogLine[] = []

  debug(fields: LogFields, message: string): void {
    this.lines.push({ level: 'debug', message, fields })
  }
  info(fields: LogFields, message: string): void {
    this.lines.push({ level: 'info', message, fields })
  }
  warn(fields: LogFields, message: string): void {
    this.lines.push({ level: 'warn', message, fields })
  }
  error(fields: LogFields, message: string): void {
    this.lines.push({ level: 'error', message, fields })
  }

  /** What an operator sees who does not debug. */
  get loud(): readonly LogLine[] {
    return this.lines.filter(({ level }) => level === 'warn' || level === 'error')
  }
}
