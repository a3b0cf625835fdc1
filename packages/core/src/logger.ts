/** Structured facts of a log line. */
export type LogFields = Readonly<Record<string, unknown>>

/**
 * Where this project reports what it cannot throw. A pino logger fits as it is; anything with these four methods will do.
 * A logger that throws is the user's fault, but it must not stop coordination: callers go through {@link safeLogger}.
 */
export interface Logger {
  /** What only somebody who looks for a fault wants to know. */
  debug(fields: LogFields, message: string): void
  /** What happens in the ordinary course: leadership gained, a peer leaving, an outage that is over. */
  info(fields: LogFields, message: string): void
  /** What goes on by itself, but should be looked at. */
  warn(fields: LogFields, message: string): void
  /** What somebody has to do something about, such as a callback that failed. */
  error(fields: LogFields, message: string): void
}

/**
 * The default logger: prints warnings and errors to the console and drops the rest, so that a failing callback is never
 * silent in a program that configured nothing. One of the only two doors from this package to the outside.
 */
export const consoleLogger: Logger = {
  debug() {},
  info() {},
  warn: (fields, message) => console.warn(`[coordination] ${message}`, fields),
  error: (fields, message) => console.error(`[coordination] ${message}`, fields),
}

/** A logger around `logger` that never throws: a failure of the logger itself is shown on the console instead. */
export function safeLogger(logger: Logger): Logger {
  const guarded =
    (level: keyof Logger) =>
    (fields: LogFields, message: string): void => {
      try {
        logger[level](fields, message)
      } catch (error) {
        consoleLogger.error({ error, fields }, `The logger threw while reporting: ${message}`)
      }
    }
  return { debug: guarded('debug'), info: guarded('info'), warn: guarded('warn'), error: guarded('error') }
}
