import type { Clock } from './clock.js'
import type { LogFields, Logger } from './logger.js'

/** What a {@link limitedLogger} lets through. */
export interface LogLimits {
  readonly clock: Clock
  /** Must not throw, see `safeLogger`. */
  readonly logger: Logger
  /** Most lines with one message in a minute. */
  readonly linesPerMinute: number
}

const MINUTE = 60

/**
 * A logger for lines that strangers can cause: of each message it passes on a bounded number of lines a minute, and counts the rest; the
 * first line of a later minute says how many were `omitted`. For a bounded number of messages: what varies belongs into the fields.
 */
export function limitedLogger({ clock, logger, linesPerMinute }: LogLimits): Logger {
  const kinds = new Map<string, { since: number; lines: number; omitted: number }>()
  const limited =
    (level: keyof Logger) =>
    (fields: LogFields, message: string): void => {
      const now = clock.monotonicSeconds()
      const kind = kinds.get(message) ?? { since: now, lines: 0, omitted: 0 }
      kinds.set(message, kind)
      if (now - kind.since >= MINUTE) {
        kind.since = now
        kind.lines = 0
      }
      if (kind.lines >= linesPerMinute) {
        kind.omitted++
        return
      }
      kind.lines++
      const { omitted } = kind
      kind.omitted = 0
      logger[level](omitted === 0 ? fields : { ...fields, omitted }, message)
    }
  return { debug: limited('debug'), info: limited('info'), warn: limited('warn'), error: limited('error') }
}
