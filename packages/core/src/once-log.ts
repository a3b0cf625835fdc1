import type { LogFields, Logger } from './logger.js'

/** Warns once of each kind of thing, however often it happens. For a bounded number of kinds. */
export class OnceLog {
  readonly #logger: Logger
  readonly #kinds = new Set<string>()

  /** @param logger must not throw, see `safeLogger`. */
  constructor(logger: Logger) {
    this.#logger = logger
  }

  warn(kind: string, fields: LogFields, message: string): void {
    if (this.#kinds.has(kind)) return
    this.#kinds.add(kind)
    this.#logger.warn(fields, message)
  }
}
