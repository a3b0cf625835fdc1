import type { HistoryEvent } from './history-event.js'
import type { HistoryCheckOptions } from './history-options.js'
import type { HistoryRule } from './history-rules.js'

/** A history that breaks one rule, and no other. */
export interface BrokenHistory {
  readonly name: string
  readonly rule: HistoryRule
  readonly history: readonly HistoryEvent[]
  readonly options?: HistoryCheckOptions
  /** What the message must say. */
  readonly says: string
}
