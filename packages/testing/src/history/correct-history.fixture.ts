import type { HistoryEvent } from './history-event.js'
import type { HistoryCheckOptions } from './history-options.js'

/** A history without breach that a careless checker would find fault with. */
export interface CorrectHistory {
  readonly name: string
  readonly history: readonly HistoryEvent[]
  readonly options?: HistoryCheckOptions
}
